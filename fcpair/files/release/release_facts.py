"""What a release holds and what is known of it: its tables, and the facts that its documents state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fcpair.files.release.release_form import ReleaseForm
from fcpair.stages.corpus.text_identity import digest

if TYPE_CHECKING:
    import pandas as pd

DATA = "data"
TEXT_DIGEST = "_sha256"
_DIGEST_TEXT = "the SHA-256 of the text of `{}`, by which `join_texts.py` finds it"


@dataclass(frozen=True)
class ReleaseTable:
    """A table of a release: its name, its rows, what it holds, what its columns hold, and which of these are texts.

    `tier` is the tier that it holds, and `rule` what that requires; empty for other tables. `dropped` columns go
    together with the texts. `is_side` is whether it holds no answers, but the rows that they are about.
    """

    name: str
    rows: pd.DataFrame
    about: str
    columns: Mapping[str, str]
    texts: Sequence[str] = ()
    dropped: Sequence[str] = ()
    tier: str = ""
    rule: str = ""
    is_side: bool = False

    @property
    def path(self) -> str:
        """Its place in the folder, without a suffix."""
        return f"{DATA}/{self.name}"

    def without_texts(self) -> ReleaseTable:
        """The same with digests in the place of texts."""
        rows = self.rows.drop(columns=[name for name in self.dropped if name in self.rows.columns])
        columns = {name: about for name, about in self.columns.items() if name in rows.columns}
        for text in (name for name in self.texts if name in rows.columns):
            rows[text] = [digest(body) if body else "" for body in rows[text]]
            columns[text] = _DIGEST_TEXT.format(text)
        names = {text: f"{text}{TEXT_DIGEST}" for text in self.texts}
        columns = {names.get(name, name): about for name, about in columns.items()}
        return replace(self, rows=rows.rename(columns=names), columns=columns, texts=(), dropped=())


@dataclass(frozen=True)
class ReleaseFacts:
    """What the documents of a release state; all of it comes from the study, but the form, which people fill in.

    `origins` has how many answers came from where, `people` how many people there are by role, `models` what each
    model is, `sources` the files that the corpora came from, `steps` what was done, in a line for each stage,
    `questions` what was asked, round by round, and `left_out` what the study has that no table has.
    `guidelines_version` is 0 where there are none. `agreement` has the figures that the datasheet shows, and
    `has_agreement` is whether there is a file with all of them.
    """

    name: str
    form: ReleaseForm
    study_title: str
    hs_name: str
    cn_name: str
    about_hate: bool
    version: str
    has_texts: bool
    tables: Sequence[ReleaseTable]
    questions: Mapping[str, str]
    guidelines_version: int
    origins: Mapping[str, int]
    people: Mapping[str, int]
    models: Mapping[str, str] = field(default_factory=dict)
    demographics: Sequence[tuple[str, str, int]] = ()
    agreement: Sequence[Mapping[str, Any]] = ()
    has_agreement: bool = False
    sources: Sequence[str] = ()
    steps: Sequence[str] = ()
    notes: Sequence[str] = ()
    left_out: Sequence[str] = ()
    consent: str = ""

    @property
    def title(self) -> str:
        """The title that people gave, else the study's."""
        return self.form["title"] or self.study_title or self.name

    @property
    def licence(self) -> str:
        """The licence of all that is in it; empty where labels and texts have different ones, or one is not stated."""
        licences = {self.form["licence.labels"], *([self.form["licence.texts"]] if self.has_texts else ())}
        return str(licences.pop()) if len(licences) == 1 else ""

    @property
    def tiers(self) -> list[ReleaseTable]:
        """The tables that are tiers."""
        return [table for table in self.tables if table.tier]

    @property
    def default_table(self) -> ReleaseTable:
        """The table that is loaded where none is named: the widest tier, or else the first answers."""
        return next(iter(self.tiers or [table for table in self.tables if not table.is_side]))

    @property
    def n_simulated(self) -> int:
        """How many answers simulated people gave."""
        return self.origins.get("simulated", 0)

    @property
    def n_generated(self) -> int:
        """How many answers models gave."""
        return self.origins.get("generated", 0)
