"""Records of what a look at a study finds: why a pair is where it is, whether all is well, what was copied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TierCheck:
    """Whether a pair is in a tier, and what keeps it out."""

    tier: str
    rule: str
    passed: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """Why a pair is where it is: where it comes from, every answer and decision, and what each tier says.

    `tier` is the best of the four that it is in, and `own_tiers` are those of the study's own.
    `second_look` says that it was decided before its labels changed.
    """

    cell_id: int
    hs: str
    cn: str
    hs_metadata: dict[str, str]
    cn_metadata: dict[str, str]
    brought_in_by: tuple[dict[str, Any], ...]
    answers: tuple[dict[str, Any], ...]
    decisions: tuple[dict[str, Any], ...]
    tier: str | None
    checks: tuple[TierCheck, ...]
    discarded: bool = False
    second_look: bool = False
    own_tiers: tuple[str, ...] = ()


@dataclass(frozen=True)
class CheckResult:
    """One check of a study: what should be true (`asks`), of how many things (`n`, `of`), and what it `found`.

    `found` has a sentence for each thing that is not as it should be, and `advice` says what to do then; `note` says
    what could not be checked, or that a grid was drawn.
    """

    name: str
    asks: str
    n: int
    of: str
    found: tuple[str, ...]
    advice: str
    note: str = ""


@dataclass(frozen=True)
class Health:
    """Result of examining a study.

    `digest` is that of all answers, decisions, texts, guidelines, names and the scheme: as long as it is the same,
    these are. `notes` are sentences on what waits for a second look. `schema` is the revision of the tables, empty
    where they cannot be read. `settings_digest` and `log_digest` are those of all settings and of the run log, empty
    where these cannot be read.
    """

    file: str
    checks: tuple[CheckResult, ...]
    digest: str
    notes: tuple[str, ...] = ()
    schema: str = ""
    settings_digest: str = ""
    log_digest: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether no check found anything."""
        return not any(check.found for check in self.checks)


@dataclass(frozen=True)
class CopyReport:
    """A study that was copied: where from, how many rows each table has, and the digest of all of them, on both sides.

    The digest does not depend on the database that a study is in.
    """

    source: str
    n_rows: Mapping[str, int]
    digest: str


@dataclass(frozen=True)
class BackupReport:
    """A backup: of which kind of database, of which schema, written by which fcpair and when.

    `health` is what an examination of its study found; None where that was not possible.
    """

    kind: str
    schema: str
    fcpair: str
    at: str
    health: Health | None
