"""Backups of a study: writing one, bringing it back and vouching for it; and copies at other places."""

from __future__ import annotations

from pathlib import Path

from fcpair.examination_records import BackupReport
from fcpair.models.encode import Progress
from fcpair.steps.oversight import doctor
from fcpair.store.database import schema
from fcpair.store.database.backends import Place
from fcpair.store.maintenance import backups
from fcpair.store.maintenance.backups import copy

__all__ = ["back_up", "check", "copy", "restore"]


def back_up(place: Place, file: str | Path) -> Path:
    """Write a consistent copy of a study, which may be served meanwhile, to a new file; returns that.

    Raises StudyError, and leaves no file, where the study is damaged, the file is there, or it cannot be written.
    """
    backups.back_up(place, Path(file))
    return Path(file)


def restore(file: str | Path, place: Place, *, create: bool = False, progress: Progress | None = None) -> BackupReport:
    """Bring the study of a backup back at `place`, where none may be, and examine it.

    Raises StudyError, and leaves nothing there, where the backup is not what was written, or is of another kind of
    database or a newer fcpair, or where a server has no such database, unless one is to `create` it. A study of an
    older fcpair is to be upgraded before it can be examined.
    """
    manifest = backups.restore(Path(file), place, create=create)
    health = doctor.examine(place, progress=progress) if manifest.schema == schema.HEAD else None
    return BackupReport(manifest.kind, manifest.schema, manifest.fcpair, manifest.at, health)


def check(file: str | Path, *, progress: Progress | None = None) -> BackupReport:
    """Say what a backup is, and, where its study was in a file, examine that, without restoring it.

    Raises StudyError where the backup is not what was written, or is of a newer fcpair.
    """
    manifest = backups.check(Path(file))
    with backups.unpacked_study(Path(file)) as study:
        is_current = study is not None and manifest.schema == schema.HEAD
        health = doctor.examine(study, progress=progress) if study is not None and is_current else None
    return BackupReport(manifest.kind, manifest.schema, manifest.fcpair, manifest.at, health)
