"""A report of a study whose people calibrated themselves: agreement before and after, beside that of the labels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fcpair.study import Study
from steps.calibrated import ALPHA, ALPHA_AFTER, calibrated

At = Callable[[str], Study]


def test_the_report_has_agreement_before_and_after(at: At, tmp_path: Path) -> None:
    study = at("paired")
    calibrated(study)
    page = study.report(tmp_path / "r.html").read_text("utf-8")
    section = page[page.index("Calibration for round label") :]
    assert "4 pairs that everybody answered first; people differ on 2, after the discussion on 1." in section
    row = section[section.index("Krippendorff&#39;s alpha, nominal") :].split("</tr>")[0]
    assert f"{ALPHA:.3f}" in row
    assert f"{ALPHA_AFTER:.3f}" in row


def test_a_study_without_a_calibration_has_no_word_of_it(at: At, tmp_path: Path) -> None:
    page = at("checked").report(tmp_path / "r.html").read_text("utf-8")
    assert "alibration" not in page
