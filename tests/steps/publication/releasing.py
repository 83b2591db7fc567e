"""What tests of releases share: a form that lacks nothing."""

from __future__ import annotations

from pathlib import Path

from files.release.test_release_form import filled_in

from fcpair.files.release.release_form import ReleaseForm, read_form, template_text


def full_form(folder: Path) -> ReleaseForm:
    """A form with an answer to every question."""
    path = folder / "filled-in.toml"
    path.write_text(filled_in(template_text()), "utf-8")
    return read_form(path)


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, by its path there."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
