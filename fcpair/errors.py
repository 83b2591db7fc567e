"""The errors that a user can cause; every other exception is a defect of fcpair.

Each class also subclasses the builtin that fits, so that library users may catch either.
"""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from os import PathLike
from typing import Any, Self

from fcpair.sentences import Id, join, mark, mark_plural, say, say_number

FilePath = str | PathLike[str]
_METHODS = {
    **{name: f"grid.{name}" for name in ("adjudicate", "aggregate", "agreement", "assign", "evaluate", "explain")},
    **{name: f"grid.{name}" for name in ("generate", "pair", "plan", "retrieve", "select", "simulate")},
    **{name: f"study.{name}" for name in ("copy", "doctor", "log", "methods", "release", "report", "status", "verify")},
    **{name: f"Study.{name}" for name in ("restore", "upgrade")},
    **{f"calibrate {name}": f"grid.calibration.{name}" for name in ("start", "close")},
    **{f"{name} sheets": f"grid.sheets.write_{name}" for name in ("answers", "labels")},
    **{f"{name} export": f"grid.{name}" for name in ("answers", "labels")},
    **{f"{name} import": f"grid.import_{name}" for name in ("answers", "labels")},
    "answers withdraw": "grid.withdraw",
    "ask import": "study.import_survey",
    "ask open": "study.open_survey",
    "backup": "study.back_up",
    "calibrate discuss": "grid.calibration.open_discussion",
    "examples find": "grid.examples.find",
    "import": "study.import_corpus",
    "init": "Study.create",
    "partition": "grid.tiers",
    "people add": "study.add_people",
    "people handover": "study.hand_over",
    "people let-on": "grid.desk.let_on",
    "people qualify": "grid.save.qualification",
    "people retire": "study.retire",
    "recipe": "study.recipe_text",
    "run": "study.walk",
    "validate assign": "grid.assign_validation",
    "validate import": "grid.import_verdicts",
    "validate sheets": "grid.sheets.write_verdicts",
}
"""The Python call that stands for a command."""
_COMMAND = re.compile("`fcpair ([a-z]+)(?: ([a-z-]+))?")


class FcpairError(Exception):
    """Base of everything that a user can cause: what was found, what was expected, what to do.

    The text of an error that was raised with a `Sentence` is that sentence, so pages can say it in their language. If
    it names commands, a traceback says below it what they are in Python. `parameter` is the name of the parameter that
    is at fault, beside whose field a form says it; empty if none is.
    """

    parameter: str = ""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        commands = _COMMAND.findall(str(args[0]) if args else "")
        methods = dict.fromkeys(_METHODS.get(f"{one} {two}", _METHODS.get(one)) for one, two in commands)
        if known := [f"{method}(...)" for method in methods if method]:
            self.add_note(f"In Python: {', '.join(known)}")

    def __str__(self) -> str:  # also of those that are OSErrors, which would say it as one of the machine's
        return str(self.args[0]) if self.args else ""

    @classmethod
    def say(cls, template: str, /, **values: Any) -> Self:
        """The error that says this sentence with its values, as `sentences.say` takes them."""
        return cls(say(template, **values))


@contextmanager
def at_fault(parameter: str) -> Iterator[None]:
    """Let an error that is raised inside name the parameter that is at fault."""
    try:
        yield
    except FcpairError as error:
        error.parameter = parameter
        raise


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a file; `line` counts from 1, None where no single line is at fault.

    `cause` is what findings on several lines have in common, where their messages differ.
    """

    file: str
    line: int | None
    message: str
    cause: str = ""

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return say("%(place)s: %(what)s", place=place, what=self.message)


KNOWN = mark("known are %(names)s")
EXPECTED, ONE_OF = mark("expected %(names)s"), mark("expected one of %(names)s")
NOT_LOGGED_IN = say("you are not logged in; open your invite link, or send your token as `Authorization: Bearer`")
_JOINERS = "\u200c\u200d"  # without them, words of Persian and of Indian scripts are others
LINES_SHOWN = 5


def show_foreign(name: str, longest: int = 200) -> str:
    """A name in somebody else's file as a sentence can hold it: cut after `longest` characters, and with escapes for
    what is not printed, such as an end of a line or what steers a terminal. Signs that join letters stay.
    """
    signs = (
        sign if sign.isprintable() or sign in _JOINERS else sign.encode("unicode_escape").decode()
        for sign in name[:longest]
    )
    return "".join(signs) + "..." * (len(name) > longest)


def group_by_cause(findings: Sequence[Finding]) -> list[str]:
    """Describe what is wrong, each cause once, with the number of its lines and the first of them if there are several.

    Findings whose messages differ are put under their cause where there are too many to be read one by one.
    """
    n = Counter((finding.file, finding.cause) for finding in findings if finding.cause)
    causes: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        many = n[finding.file, finding.cause] > LINES_SHOWN
        causes.setdefault((finding.file, finding.cause if many else finding.message), []).append(finding)
    described = []
    for (_, what), (first, *others) in causes.items():
        where = str(replace(first, message=what)) if others else str(first)
        lines = [Id(finding.line) for finding in (first, *others) if finding.line is not None]
        if others and len({*lines}) < 2:
            where = say_number("%(what)s (%(n)s time)", "%(what)s (%(n)s times)", 1 + len(others), what=where)
        elif others:
            shown = [*lines[:LINES_SHOWN], *["..."] * (len(lines) > LINES_SHOWN)]
            forms = mark_plural("%(what)s (%(n)s line: %(lines)s)", "%(what)s (%(n)s lines: %(lines)s)")
            where = say_number(*forms, len(lines), what=where, lines=shown)
        described.append(where)
    return described


class InputError(FcpairError, ValueError):
    """A file or a value cannot be used; `findings` holds everything that is wrong with it, in line order.

    The message tells each cause once, however many lines it is found in.
    """

    SHOWN = 20

    def __init__(self, message: str, findings: Iterable[Finding] = ()) -> None:
        self.findings = tuple(findings)
        super().__init__(message)

    def __str__(self) -> str:
        causes = group_by_cause(self.findings)
        lines = [super().__str__(), *causes[: self.SHOWN]]
        if n_more := len(causes[self.SHOWN :]):
            lines.append(say("... and %(number)s more", number=n_more))
        return join(lines, "\n  ") if causes else lines[0]


class NoEffectError(InputError):
    """A parameter would have no effect beside the others; `parameter` is its name."""

    def __init__(self, message: str, parameter: str) -> None:
        self.parameter = parameter
        super().__init__(message)


class SettingError(InputError):
    """A setting that is kept in the study cannot be used; it is set anew by the command or the recipe of its stage."""


class RecipeError(InputError):
    """A recipe has a key or a value that fcpair does not know."""


class RecipeEndError(RecipeError):
    """A recipe has no section for the stage that comes next: the walk ends there, and what was done stands."""


class StageError(FcpairError, RuntimeError):
    """A stage was called before the one that it needs, or a second time."""


class StudyError(FcpairError, OSError):
    """The study file cannot be opened, read or written."""


class BusyError(StudyError):
    """Something else is at work, and it was not waited for any longer; nothing was changed. Try again in `wait_s` s."""

    def __init__(self, message: str, wait_s: int = 2) -> None:
        self.wait_s = wait_s
        super().__init__(message)


class UnknownIdError(FcpairError, LookupError):
    """A pair, person or text that the study does not have."""


class ModelError(FcpairError, OSError):
    """An encoder is unavailable, or its weights are not the expected ones."""


class MissingExtraError(FcpairError, ImportError):
    """An extra of fcpair is needed and not installed; the message says which, and how to install it."""


class ServiceError(FcpairError, OSError):
    """A service is not set, cannot be reached, refuses, or gives no usable answer however often it is asked."""


class ClusterError(FcpairError, OSError):
    """A Dask cluster is unavailable, was lost, or cannot do the work."""


class RefusedError(FcpairError, PermissionError):
    """This person may not do this: it is not their work, they have not consented, or a limit is reached."""


class TooManyError(FcpairError, PermissionError):
    """Too many attempts to sign in have failed; try again in `wait_s` seconds."""

    def __init__(self, wait_s: int) -> None:
        self.wait_s = wait_s
        super().__init__(
            say_number(
                "too many failed attempts to log in; try again in %(n)s second",
                "too many failed attempts to log in; try again in %(n)s seconds",
                wait_s,
            )
        )


class UnknownVisitorError(FcpairError, PermissionError):
    """Nobody is logged in, or the session or token does not hold any more."""

    def __init__(self) -> None:
        super().__init__(NOT_LOGGED_IN)


class LimitError(RefusedError):
    """This person has read as many pairs as one may read today, or in all."""


class UnexaminedError(FcpairError, RuntimeError):
    """A text has not passed the checks of its round yet, which takes too long to be done while others wait."""


class ConflictError(FcpairError, RuntimeError):
    """The study has moved on since the person saw it: the work was taken back, the label has changed, ..."""


class TableNote(UserWarning):
    """A remark on how a table was read, for whoever uses it."""


def warn_of_table(note: str) -> None:
    """Warn of how a table was read; a command says it on standard error."""
    warnings.warn(note, TableNote, stacklevel=2)


def list_first(names: Sequence[object], most: int) -> str:
    """The first names, separated by commas, and dots if there are more."""
    return ", ".join(map(str, names[:most])) + ", ..." * (len(names) > most)


def suggest_name(name: str, known_names: Iterable[str], otherwise: str = KNOWN) -> str:
    """Suggest a replacement for an unknown name: the nearest known one, whatever its capitals, else all known ones.

    `otherwise` is the message with all `names`.
    """
    names = list({name.lower(): name for name in known_names}.values())
    near = nearest_name(name, names)
    return say("did you mean `%(name)s`?", name=near) if near else say(otherwise, names=names)


def nearest_name(name: str, known_names: Iterable[str]) -> str | None:
    """The known name that is nearest to one that is not known, whatever its capitals; None where none is near."""
    from difflib import get_close_matches

    spelled = {name.lower(): name for name in known_names}
    return next((spelled[near] for near in get_close_matches(name.lower(), spelled, 1)), None)


def name_file(error: BaseException | None, path: FilePath) -> None:
    """Have an error of the machine, such as a full disk, name the file that was to be written, and say it in its words.

    Who wrote may have named a temporary file, or none.
    """
    if isinstance(error, OSError) and not isinstance(error, FcpairError) and error.errno:
        error.filename, error.strerror = str(path), os.strerror(error.errno)


@contextmanager
def translate_read_errors(path: FilePath, error: type[InputError] = InputError, expected: str = "") -> Iterator[None]:
    """The border of files: whatever parsing the content of `path` stumbles over becomes an InputError that names it.

    Python's readers, pandas and Arrow raise what they like over broken content, from RecursionError for brackets
    without end to KeyError for metadata. Put inside what takes bytes or text apart, and nothing else. `expected` names
    the format.
    """
    try:
        yield
    except (FcpairError, Warning):
        raise
    except Exception as cause:
        if isinstance(cause, OSError) and cause.errno:
            raise
        why = next(iter(str(cause).splitlines()), "")
        detail = f"{type(cause).__name__}: {why}" if isinstance(cause, KeyError) or not why else why
        what = say("not %(format)s", format=expected) if expected else say("cannot be read")
        raise error.say("%(file)s: %(what)s: %(why)s", file=str(path), what=what, why=detail) from None


def reject(file: FilePath, findings: list[Finding]) -> None:
    """Raise InputError with everything found in `file`, in line order; do nothing when there is nothing."""
    if findings:
        raise combine_findings(file, findings)


def combine_findings(file: FilePath, findings: Iterable[Finding], kind: type[InputError] = InputError) -> InputError:
    """The error with everything found in `file`, in line order."""
    ordered = sorted(findings, key=lambda finding: finding.line or 0)
    sentence = say_number(
        "%(file)s: %(n)s thing is wrong; nothing was changed",
        "%(file)s: %(n)s things are wrong; nothing was changed",
        len(group_by_cause(ordered)),
        file=str(file),
    )
    return kind(sentence, ordered)


def require(extra: str, subject: str, *modules: str) -> None:
    """Raise MissingExtraError unless all of these modules, which an extra of fcpair brings, are installed.

    Args:
        extra: as in `pip install 'fcpair[texts]'`.
        subject: that cannot do without them, such as "the measure `bleu`"; the message begins with it.
        modules: by the names under which they are imported.
    """
    if missing := [name for name in modules if find_spec(name) is None]:
        raise missing_extra(extra, subject, *missing)


def missing_extra(extra: str, subject: str, *modules: str) -> MissingExtraError:
    """The error that `require` raises."""
    return MissingExtraError(f"{subject} needs {', '.join(modules)}; install with `pip install 'fcpair[{extra}]'`")
