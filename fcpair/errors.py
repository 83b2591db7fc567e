"""The errors that a user can cause; every other exception is a defect of fcpair.

Each class also subclasses the builtin that fits, so that library users may catch either.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


class FcpairError(Exception):
    """Base of everything that a user can cause: what was found, what was expected, what to do."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a file; `line` counts from 1, None where no single line is at fault."""

    file: str
    line: int | None
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.message}"


class InputError(FcpairError, ValueError):
    """A file or a value cannot be used; `findings` holds everything that is wrong with it, in line order."""

    SHOWN = 20

    def __init__(self, message: str, findings: Iterable[Finding] = ()) -> None:
        self.findings = tuple(findings)
        super().__init__(message)

    def __str__(self) -> str:
        lines = [super().__str__(), *(f"  {finding}" for finding in self.findings[: self.SHOWN])]
        if len(self.findings) > self.SHOWN:
            lines.append(f"  ... and {len(self.findings) - self.SHOWN} more")
        return "\n".join(lines)


class RecipeError(InputError):
    """A recipe has a key or a value that fcpair does not know."""


class StageError(FcpairError, RuntimeError):
    """A stage was called before the one that it needs, or a second time."""


class StudyError(FcpairError, OSError):
    """The study file cannot be opened, read or written."""

    def __str__(self) -> str:
        return str(self.args[0])


class UnknownIdError(FcpairError, LookupError):
    """A pair, person or text that the study does not have."""


class ModelError(FcpairError, OSError):
    """An encoder cannot be had, or its weights are not the expected ones."""

    def __str__(self) -> str:
        return str(self.args[0])


class ServiceError(FcpairError, OSError):
    """A service is not set, cannot be reached, refuses, or gives no usable answer however often it is asked."""

    def __str__(self) -> str:
        return str(self.args[0])


class RefusedError(FcpairError, PermissionError):
    """This person may not do this: it is not their work, they have not consented, or a limit is reached."""

    def __str__(self) -> str:
        return str(self.args[0])


class ConflictError(FcpairError, RuntimeError):
    """The study has moved on since the person saw it: the work was taken back, the label has changed, ..."""


def reject(file: str | Path, findings: list[Finding]) -> None:
    """Raise InputError with everything found in `file`, in line order; do nothing when there is nothing."""
    if findings:
        found = sorted(findings, key=lambda finding: finding.line or 0)
        things = "1 thing is" if len(found) == 1 else f"{len(found)} things are"
        raise InputError(f"{file}: {things} wrong; nothing was changed", found)
