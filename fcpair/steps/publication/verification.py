"""Checking releases: whether a folder is what was written, whether a study still gives it, and how two differ."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fcpair.errors import InputError, StageError, show_foreign
from fcpair.files.release.release_diff import RECORD_SHAPE, ReleaseChanges, compare_releases, find_misfit
from fcpair.files.release.release_facts import FORM_FILE, read_form
from fcpair.files.tables.folders import SUMS, check_folder, read_sums
from fcpair.steps.base.context import StudyContext
from fcpair.steps.oversight.doctor import RELEASE
from fcpair.steps.publication.release_folder import RECORD, load_content, write_content
from fcpair.steps.publication.release_privacy import Pseudonyms
from fcpair.values import parse_json


@dataclass(frozen=True)
class Verification:
    """What was found of a release: its digest, how many files it has, what is wrong with the folder (`faults`), and
    what a study gives otherwise now (`differences`), in a sentence each.
    """

    digest: str
    n_files: int
    faults: tuple[str, ...]
    differences: tuple[str, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether nothing was found."""
        return not self.faults and not self.differences


def verify_release(folder: str | Path, study: StudyContext | None = None) -> Verification:
    """Find each byte of a release that was changed, each file added or missing, and each link.

    With a `study`, also say what it gives otherwise now; runs after the release are no difference. Raises InputError
    where there is no such folder, or the study is another one.
    """
    place = Path(folder)
    if place.is_file():
        raise InputError(f"{folder}: is a file; name the folder of a release, and unpack one that is packed")
    if not place.is_dir():
        raise InputError(f"{folder}: there is no such folder; name the folder of a release")
    check = check_folder(place)
    differences = _differences(place, study) if study is not None and not check.faults else ()
    return Verification(check.digest, check.n_files, check.faults, differences)


def _differences(folder: Path, study: StudyContext) -> tuple[str, ...]:
    record = read_record(folder)
    with study._store.read() as tx:
        pseudonyms = Pseudonyms(tx, record["seed"])
        if pseudonyms.study_key != record["study"]:
            raise InputError(f"{folder} is a release of another study, or of one that was made anew")
        try:
            content = load_content(
                tx,
                record["name"],
                read_form(folder / FORM_FILE),
                seed=record["seed"],
                texts=record["texts"],
                last_run=pseudonyms.ids.decrypt(RELEASE, record["last_run"]) - 1,
            )
        except StageError as error:
            return (f"the study gives no release now: {error}",)
    with tempfile.TemporaryDirectory() as temporary:
        write_content(content, Path(temporary))
        now = read_sums((Path(temporary) / SUMS).read_bytes())
    before = read_sums((folder / SUMS).read_bytes())
    differing = (path for path in sorted(now | before) if now.get(path) != before.get(path))
    return tuple(
        f"{show_foreign(path)} would {'be missing' if path not in now else 'differ' if path in before else 'be new'}"
        for path in differing
    )


def read_record(folder: Path) -> dict[str, Any]:
    """The record of how a release was made; raises InputError where the folder has none."""
    try:
        record: dict[str, Any] = parse_json((folder / RECORD).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: is no release: {RECORD} cannot be read ({error})") from None
    if misfit := find_misfit(record, RECORD_SHAPE):
        raise InputError(f"{folder}: is no release: {RECORD} is not as `fcpair release` writes it: {misfit}")
    return record


def diff_releases(before: str | Path, after: str | Path) -> ReleaseChanges:
    """List the pairs that came, went, or changed tier or label from one release to another, and why.

    Raises InputError where a folder is no release, or not as it was written.
    """
    folders = Path(before), Path(after)
    for folder in folders:
        if faults := verify_release(folder).faults:
            raise InputError(f"{folder}: {faults[0]}; `fcpair verify` lists all that differs from what was released")
    return compare_releases(*folders, [read_record(folder) for folder in folders])
