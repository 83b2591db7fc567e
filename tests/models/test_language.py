"""Which language texts are in, on the published data, and with the letters of other keyboards."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from fcpair.errors import InputError
from fcpair.files.corpus.corpus import read_crowdcounter
from fcpair.models import language
from fcpair.models.language import check_language, detect_language, other_language


@pytest.fixture(scope="module")
def persian(data: Path) -> list[str]:
    with (data / "parscn" / "ParsCN-Dataset.csv").open(encoding="utf-8-sig", newline="") as file:
        return [row["Counter_Narrative"] for row in csv.DictReader(file)]


@pytest.fixture
def unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are read as they stand."""
    monkeypatch.setattr(language, "fold_letters", lambda text: text)


@pytest.mark.slow
@pytest.mark.usefixtures("unfolded")
def test_without_folding_59_of_1100_persian_texts_look_like_another_language(persian: list[str]) -> None:
    found = [detect_language(text)[0] for text in persian]
    assert len(found) == 1100
    assert len([one for one in found if one != "fa"]) == 59


@pytest.mark.usefixtures("unfolded")
def test_without_folding_none_of_them_would_be_refused(persian: list[str]) -> None:
    assert [text for text in persian if other_language(text, "fa")] == []


@pytest.mark.slow
def test_no_persian_text_is_refused(persian: list[str]) -> None:
    assert {detect_language(text)[0] for text in persian} == {"fa"}
    assert [text for text in persian if other_language(text, "fa")] == []


@pytest.mark.slow
def test_no_english_text_of_crowdcounter_is_refused(data: Path) -> None:
    texts = read_crowdcounter(data / "crowdcounter" / "Final_Dataset.json").answers["cn"].tolist()
    assert len(texts) == 3435
    assert [text for text in texts if other_language(text, "en")] == []


def test_another_language_is_told_with_its_probability() -> None:
    found = other_language("Warum sollte das denn ein Problem für irgendjemanden sein?", "en")
    assert found is not None
    assert found[0] == "de"
    assert 0.9 < found[1] <= 1


def test_a_code_that_is_none_gets_the_nearest_one() -> None:
    with pytest.raises(InputError, match="`eng` is not a language that can be detected; did you mean `en`"):
        check_language("eng")
