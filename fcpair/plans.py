"""The plan of a grid: its sides, its rounds, and how its answers become decisions and tiers.

A recipe and the library fill these classes; `stages/assignment/plan.py` checks what needs a round's form as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Literal

from fcpair import params
from fcpair.errors import InputError, show_foreign
from fcpair.known_pairs import Controls, Qualification
from fcpair.param_values import AT_LEAST_ONE, Bounds, Checked, check_rules, param
from fcpair.records import COMPARISON
from fcpair.round_options import ROW, Checks, RoundDesign
from fcpair.sentences import mark
from fcpair.values import is_blank

__all__ = ["Checks", "Compare", "GridPlan", "RoundPlan", "SidePlan", "Source"]

Worker = Literal["annotator", "writer", "rater", "respondent"]
Kind = Literal["text", "hs", "cn"]
PrintedForm = Annotated[
    str, "the printed form of a form; in a recipe a question, or a table of questions by their names"
]
Grids = Annotated[str | tuple[str, ...], "names of earlier grids; in a recipe one name, or a list of names"]
EXAMPLE_PARAMS = ("n_examples", "example_model", "reviewed")
MODEL = "model"  # the role of what answers a round without being a person
ORIGINAL, ORIGINAL_LANGUAGE = "original", "original_language"  # what metadata says of a text that is a translation
NAME = re.compile(
    rf"\w(?:[\w -]{{0,{params.LONGEST_NAME - 2}}}[\w-])?"
)  # of a grid or round, as a command and a file have it


def check_name(what: str, name: str) -> None:
    """Raise InputError unless a name can be given to a command, and name a file."""
    if not NAME.fullmatch(name):
        raise InputError(
            f"`{show_foreign(name)}` cannot name a {what}; use at most {params.LONGEST_NAME} letters, digits, `_`, `-` "
            "and inner spaces"
        )


def _too_small(plan: Checked, *names: str) -> Iterator[tuple[bool, str]]:
    for name in names:
        value = getattr(plan, name)
        yield value is not None and value < 1, f"{name} is {value}; expected 1 or more"


Quota = Annotated[Mapping[str, int], "how many of each group; in a recipe a table of numbers by names"]


@dataclass(frozen=True)
class Source(params.Seeded):
    """A file that texts are collected from: which column is what, which rows stay out, and which are drawn."""

    file: Path = field(metadata={"help": "a table, a JSON file of CrowdCounter's release, or templates"})
    text: str = field(metadata={"help": "the column of the texts; for templates `template`, for their items `item`"})
    name: str = param("", "what the source is called", otherwise="the name of the file")
    reader: Literal["table", "crowdcounter", "templates", "items"] = param(
        "table", "what the file is; from a file of templates, either the templates or their items are read"
    )
    group: str = param("", "the column that says which group a text is about")
    aliases: Path | None = param(None, "a table `spelling,label` of the groups")
    language: str = param("", "the language of all texts; if not given, that in the column `language`, if there is one")
    original: str = param("", "the column of the texts before translation")
    original_language: str = param("", "the language of those texts")
    labels: str = param("", "the column with several people's labels of a text, separated by semicolons")
    without: tuple[str, ...] = param((), "texts to which most people gave one of these labels are left out")
    slurs: Path | None = param(
        None, "a list of slurs, one per line; a text with slurs and too few other words is left out"
    )
    least_other_words: int = param(10, "how many words other than slurs a text with a slur must have")
    quota: Quota = param((), "how many texts of each group to draw")
    per_group: int | None = param(None, "how many texts of every group to draw", otherwise="all")
    sample: int | None = param(None, "how many texts to draw from those that the quotas leave", otherwise="all")
    seed: int = param(0, "random seed")

    def __post_init__(self) -> None:
        super().__post_init__()
        needed = {"without": "labels", "labels": "without", "aliases": "group", "quota": "group"}
        for name, needs in (needed | {"original_language": "original"}).items():
            is_lacking = getattr(self, name) and not getattr(self, needs)
            check_rules((is_lacking, f"`{name}` of a source needs `{needs}`; give both, or none"))
        each = self.per_group is not None
        check_rules(
            (each and not self.group, "`per_group` of a source needs `group`; give both, or none"),
            (self.quota and each, "a source has `quota` and `per_group`; give one of them"),
            *_too_small(self, "per_group", "sample", "least_other_words"),
            *((n < 1, f"the quota of `{name}` is {n}; expected 1 or more") for name, n in self.quota.items()),
        )

    @property
    def called(self) -> str:
        """Name of the source; without one, that of its file."""
        return self.name or self.file.stem


@dataclass(frozen=True)
class Compare(params.Seeded):
    """The texts of each row of an earlier grid that are compared, and the comparisons that they are assigned to."""

    grid: str = field(metadata={"help": "the earlier grid: its columns are compared, or the texts written in it"})
    tier: str = param("", "only pairs that are in this tier of that grid", otherwise="all")
    labels: tuple[str, ...] = param((), "only pairs with one of these final labels")
    pairs_file: Path | None = param(None, "a table whose column `pair` has the numbers of the only pairs to compare")
    most: int | None = param(None, "how many texts of a row to draw", otherwise="all", bounds=Bounds(2))
    size: int = param(4, "how many texts a comparison shows", bounds=Bounds(2, most=6))
    times: int = param(
        4, "in how many comparisons each text is shown at least", bounds=AT_LEAST_ONE, idle_with=("per_row",)
    )
    per_row: int | None = param(
        None, "how many comparisons each row has", otherwise="as many as `times` needs", bounds=AT_LEAST_ONE
    )
    seed: int = param(0, "random seed")

    def __post_init__(self) -> None:
        super().__post_init__()
        too_few = (
            f"`most` is {self.most}, and a comparison shows {self.size} texts (`size`); raise one, or lower the other"
        )
        check_rules((self.most is not None and self.most < self.size, too_few))


@dataclass(frozen=True)
class SidePlan(Checked):
    """Source of the texts of a side: a column of a file, several sources, names, what was written, the rows of an
    earlier grid, or comparisons of texts of each of its rows.
    """

    file: Path | None = param(None, "a table whose `column` has the texts")
    column: str = param("", "the column of the file")
    kind: Kind = param("text", "what the texts of the file are; hs and cn: texts that occur in the corpus")
    names: tuple[str, ...] = param((), "the texts themselves, such as names of types, criteria or models")
    answers: Grids = param("", "one or more earlier grids: the texts written in their rounds that count")
    sources: tuple[Source, ...] = param((), "files to collect texts from, with filters and quotas")
    rows_of: str = param("", "an earlier grid: its rows")
    compare: Compare | None = param(None, "comparisons of several texts of each row; columns alone can be so")
    sheet_name: str | None = param(None, params.SHEET_HELP)
    encoding: params.Encoding | None = param(None, params.ENCODING_HELP)
    separator: params.Separator | None = param(None, params.SEPARATOR_HELP)
    no_header: bool = param(False, params.NO_HEADER_HELP)

    def __post_init__(self) -> None:
        super().__post_init__()
        params.check_unique("grid", self.grids)
        names = ("file", "names", "answers", "sources", "rows_of", "compare")
        origins = [f"`{name}`" for name in names if getattr(self, name)]
        example = '{file = "hs.csv", column = "hs"}'
        others = "`names`, `answers`, `sources`, `rows_of` or `compare`"
        one_of = f"give it one of `file` with `column`, as in {example}, {others}"
        check_rules(
            (len(origins) != 1, f"a side has {' and '.join(origins) or 'nothing'}; {one_of}"),
            (bool(self.file) != bool(self.column), f"`file` and `column` go together, as in {example}"),
            *(
                (bool(getattr(self, name)) and not self.file, f"`{name}` says how a file is read; omit it")
                for name in ("sheet_name", "encoding", "separator", "no_header")
            ),
            (self.kind != "text" and not self.file, "`kind` says what the texts of a file are; omit it"),
        )
        params.check_unique("name of a source", [source.called for source in self.sources])
        check_rules((any(map(is_blank, self.names)), "a name of a side is empty; give each a text, or omit it"))
        params.check_unique(mark("name"), [name.strip() for name in self.names])

    @property
    def grids(self) -> tuple[str, ...]:
        """The earlier grids whose written texts the side has, in their order."""
        return params.grid_names(self.answers)

    @property
    def rests_on(self) -> tuple[str, ...]:
        """All earlier grids that the side takes something from."""
        return (*self.grids, *filter(None, (self.rows_of, self.compare.grid if self.compare else "")))

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that the side is read from."""
        of_sources = (path for source in self.sources for path in (source.file, source.aliases, source.slurs))
        of_comparisons = self.compare.pairs_file if self.compare else None
        return tuple(path for path in (self.file, *of_sources, of_comparisons) if path is not None)

    @property
    def text_kind(self) -> str:
        """The kind that the texts of the side have in the study; of rows of an earlier grid, that grid knows it."""
        if self.compare:
            return COMPARISON
        return self.kind if self.file or self.sources else "name" if self.names else "answer"


@dataclass(frozen=True)
class _Asked(params.Seeded):
    """Form of a round, and who answers it."""

    name: str = field(metadata={"help": "what the round is called"})
    form: PrintedForm = field(metadata={"help": "what is asked, as `text: text(); types: any_of(a,b)`"})
    role: Worker = param("annotator", "who answers; models if `models` names some")


@dataclass(frozen=True)
class RoundPlan(RoundDesign, _Asked):
    """A form that is put on the cells of a grid: who answers it, and how it is assigned."""

    counts: bool | None = param(
        None, "whether decisions and tiers rest on it", otherwise="the last round that people answer"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if (path := self.prompt_file) is not None:
            try:
                prompt = path.read_text("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise InputError(f"round `{self.name}`: the prompt {path} cannot be read ({error})") from None
            if self.prompt not in ("", prompt):
                raise InputError(f"round `{self.name}` has `prompt` and `prompt_file`; give one of them")
            object.__setattr__(self, "prompt", prompt)
        check_name("round", self.name)
        models, once_per_row, cells = self.models, self.once_per_row, self.cells is not None
        has_all = self.screen != "cell" or bool(models)  # rows on one screen, and models, have all cells
        on_one_screen, all_cells = self.screen != "cell", "rows on one screen, which have all"
        edits_earlier = self.edits not in {"", ROW} and self.after not in {"", self.edits}
        in_order = '`in_order` applies to columns on one screen; give `screen = "row"`, or "list", or omit it'
        given = "so nobody can have only one cell of a row; give `answers` a number, or omit `once_per_row`"
        check_rules(
            (not self.form.strip(), f"round `{self.name}` asks nothing; give it a form, such as one_of(no,yes+)"),
            (self.answers < 0, f"answers is {self.answers}; expected 1 or more, or 0 for everybody"),
            (
                self.cells is not None and (self.cells < 1 or has_all),
                f"cells is {self.cells}; expected 1 or more, without models or {all_cells} cells",
            ),
            *_too_small(self, "columns_per_row", "batch", "per_batch", "pass_at"),
            (
                self.columns_per_row and (cells or has_all),
                f"`columns_per_row` draws the cells, so omit `cells`, models, and {all_cells}",
            ),
            (
                self.per_batch and (cells or not self.after),
                "`per_batch` draws from the round that this one comes after: give `after`, omit `cells`",
            ),
            (
                bool(self.passed) != bool(self.pass_at),
                '`passed` and `pass_at` go together, as in `passed = "grade"`, `pass_at = 8`',
            ),
            (
                models and (self.checks or self.passed),
                "models answer, and their texts are marked, not refused; omit `checks` and `passed`",
            ),
            (once_per_row and not self.answers, f"everybody answers each cell (`answers = 0`), {given}"),
            (
                once_per_row and on_one_screen,
                "nobody has two cells of a row (`once_per_row`), so no row can be on one screen; omit one of them",
            ),
            (self.in_order and not on_one_screen, in_order),
            (self.probabilities and not models, "`probabilities` come from models; name some in `models`, or omit it"),
            (models and self.hide, "models answer, and nothing is hidden from them; omit `hide`"),
            (models and self.author, "models answer, so no author is excluded; omit `author`"),
            (models and self.people is not None, "`models` answer, so no `people` do; omit one of them"),
            (edits_earlier, f"the round edits texts of `{self.edits}`, so it already comes after that; omit `after`"),
        )
        params.check_unique("name of a model", models)
        defaults = {item.name: item.default for item in fields(self)}
        idle = [name for name in EXAMPLE_PARAMS if not self.examples and getattr(self, name) != defaults[name]]
        check_rules(
            (self.n_examples < 1, f"n_examples is {self.n_examples}; expected 1 or more"),
            (self.examples and not models, "`examples` are for models; name some in `models`, or omit it"),
            *((True, f"`{name}` applies to `examples`; name the grid that they are from, or omit it") for name in idle),
            (
                self.together and (not self.answers or once_per_row or models),
                "rows of a source go to the same people (`together`), so give `answers` a number, and omit "
                "`once_per_row` and models",
            ),
        )

    @property
    def answered_by(self) -> str:
        """The role of those who answer."""
        return MODEL if self.models else self.role

    @property
    def rests_on(self) -> str:
        """The earlier round in which a cell must have an answer; empty if there is none."""
        return self.after if self.edits == ROW else self.edits or self.after


STAGES_OF_GRID = ("qualification", "controls", "calibration", "agreement", "adjudicate", "validate", "partition")
"""The fields of a plan that are sections of their own in a recipe."""


@dataclass(frozen=True)
class GridPlan(Checked):
    """A grid of any two sides, its rounds in their order, and how its answers become decisions and tiers."""

    name: str = field(metadata={"help": "what the grid is called"})
    rows: SidePlan = field(metadata={"help": "where the rows come from"})
    columns: SidePlan = field(metadata={"help": "where the columns come from"})
    rounds: tuple[RoundPlan, ...] = field(metadata={"help": "the rounds, in their order"})
    row_name: str = param("row", "what a row is called")
    column_name: str = param("column", "what a column is called")
    qualification: Qualification | None = param(None, "the known pairs on which people qualify")
    controls: Controls | None = param(None, "the known pairs among the others of each shard")
    calibration: params.Calibration | None = param(None, "the batch that everybody answers first, and discusses")
    agreement: params.Agree | None = param(None, "how agreement is computed")
    adjudicate: params.Adjudicate | None = param(None, "how a cell's answers become one")
    validate: params.Validate | None = param(None, "how decisions are validated; without it, they are not")
    partition: params.Partition | None = param(None, "which rules make the tiers")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name("grid", self.name)
        names = [round_.name for round_ in self.rounds]
        is_own, compare = self.name in {*self.rows.rests_on, *self.columns.rests_on}, self.columns.compare
        is_unlike = compare is not None and self.rows.rows_of != compare.grid
        check_rules(
            (is_own, f"grid `{self.name}` cannot have its own answers as a side; name an earlier grid"),
            (not self.rounds, f"grid `{self.name}` has no round; give it one, as [[grid.round]]"),
            (self.rows.compare, f"the rows of grid `{self.name}` cannot be comparisons; give `compare` to its columns"),
            (
                is_unlike,
                f"grid `{self.name}` compares texts of the rows of another; give it these, as in "
                f'rows = {{rows_of = "{compare.grid if compare else ""}"}}',
            ),
        )
        params.check_unique("round", names)
        is_row_edited = ROW in names and any(round_.edits == ROW for round_ in self.rounds)
        check_rules((is_row_edited, f'`edits = "{ROW}"` edits the text of the row; give round `{ROW}` another name'))
        for at, round_ in enumerate(self.rounds):
            earlier = {other.name: other for other in self.rounds[:at]}
            hint = f"earlier rounds are {', '.join(earlier)}" if earlier else "it is the first"
            key = "edits" if round_.edits not in {"", ROW} else "after"
            check_rules(
                (
                    round_.rests_on and round_.rests_on not in earlier,
                    f"`{key}` of round `{round_.name}` names `{round_.rests_on}`, which is not an earlier round; "
                    f"{hint}",
                ),
                (
                    round_.per_batch and round_.after in earlier and not earlier[round_.after].batch,
                    f"round `{round_.name}` draws from batches (`per_batch`), but `{round_.after}` has none; give "
                    "it `batch`",
                ),
            )
        calibrated = self.calibration.round if self.calibration else ""
        counting = [f"`{round_.name}`" for round_ in self.rounds if round_.counts]
        both, none_counts = " and ".join(counting[:2]), all(round_.counts is False for round_ in self.rounds)
        check_rules(
            (calibrated not in {"", *names}, f"grid `{self.name}` has no round `{calibrated}` to calibrate people for"),
            (len(counting) > 1, f"rounds {both} both have `counts = true`; decisions rest on one"),
            (none_counts, f"no round of grid `{self.name}` counts; omit `counts = false` in one of them"),
        )

    @property
    def hiding(self) -> set[str]:
        """The rounds that do not show the column: where `hide` says so, or it names the model that wrote the text."""
        by_name = {round_.name: round_ for round_ in self.rounds}
        hiding_rounds = {round_.name for round_ in self.rounds if round_.hide == "column"}
        for round_ in self.rounds:
            if round_.hide is None and (earlier := by_name.get(round_.rests_on)):
                models = {model.partition("=")[0].strip() for model in earlier.models}
                if earlier.name in hiding_rounds or len(models) > 1 or models & set(self.columns.names):
                    hiding_rounds.add(round_.name)
        return hiding_rounds

    @property
    def rewording(self) -> set[str]:
        """The rounds in which the row is written in other words: they edit its text, or what such a round wrote."""
        names = {ROW}
        names.update(round_.name for round_ in self.rounds if round_.edits in names)
        return names - {ROW}

    @property
    def counting(self) -> RoundPlan:
        """The round on which decisions and tiers rest: the one that says so, else the last that people answer."""
        candidates = [round_ for round_ in self.rounds if round_.counts is not False]
        declared = [round_ for round_ in candidates if round_.counts]
        return (declared or [round_ for round_ in candidates if not round_.models] or candidates)[-1]
