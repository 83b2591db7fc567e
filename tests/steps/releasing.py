"""What tests of releases share: a form that lacks nothing, the bytes of a folder, and pairs to check again."""

from __future__ import annotations

from pathlib import Path

from files.release.test_release_form import filled_in

from fcpair.files.release.release_facts import ReleaseForm, read_form, template_text
from fcpair.store.answers import judgements
from fcpair.store.corpus.grids import to_public_number
from fcpair.study import Study


def full_form(folder: Path) -> ReleaseForm:
    """A form with an answer to every question."""
    path = folder / "filled-in.toml"
    path.write_text(filled_in(template_text()), "utf-8")
    return read_form(path)


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, by its path there."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def pairs_of(study: Study, validator: str) -> list[int]:
    """The pairs whose label a validator agreed with."""
    with study._store.read() as tx:
        rows = judgements.current_verdicts(tx, "cell_id", "person_id", "code")
    person_id = next(person.id for person in study.people if person.name == validator)
    agreed = rows[(rows["person_id"] == person_id) & (rows["code"] == 1)]
    return [int(cell) for cell in to_public_number(agreed["cell_id"])]
