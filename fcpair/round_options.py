"""Options for assigning and showing a round: what its plan says, and what the study keeps of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from fcpair.errors import InputError
from fcpair.param_values import N_PEOPLE, Checked, as_params, check_rules, param

Screen = Literal["cell", "row", "list"]
Together = Literal["", "source"]
Hide = Literal["column", "nothing"]
Models = Annotated[tuple[str, ...], "models, each NAME=service:MODEL or NAME=canned:FILE"]
Definitions = Annotated[Mapping[str, str], "a text of each; in a recipe a table of texts by names"]
ROW = "row"
"""The value of `edits` for a round that edits the row's own text, not what was written in an earlier round."""


@dataclass(frozen=True)
class Checks(Checked):
    """Checks of a text while somebody writes it, beside the number of its words and its language."""

    similar: float | None = param(
        None, "refuse a text whose cosine similarity to another exceeds this, such as 0.95", otherwise="no check"
    )
    often: int = param(10, "compare with answers given more often than this, and with the writer's own")
    model: str = param("all-MiniLM-L6-v2", "the encoder that measures how similar texts are")
    grammar: str = param("", "what checks the grammar: harper (English), or the URL of a LanguageTool server")
    refuses: tuple[str, ...] = param(
        (), "the kinds of grammar errors for which a text is refused; all others only warn"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.similar is not None and not 0 < self.similar < 1:
            raise InputError(f"similar is {self.similar:g}; expected a number between 0 and 1, such as 0.95")
        is_url, expected = (
            self.grammar.startswith(("http://", "https://")),
            "harper, or the URL of a LanguageTool server",
        )
        check_rules(
            (self.often < 1, f"often is {self.often}; expected 1 or more"),
            (self.grammar not in {"", "harper"} and not is_url, f"grammar is `{self.grammar}`; expected {expected}"),
            (
                self.refuses and not self.grammar,
                "`refuses` names kinds of grammar errors; set `grammar` to what finds them",
            ),
        )


@dataclass(frozen=True, init=False, repr=False, eq=False)  # nobody makes one: its heirs have these
class RoundDesign:
    """Options that a plan has for assigning and showing a round; each default is stated here, and nowhere else."""

    answers: int = param(1, "how many answers each cell gets, from different people; 0: one from everybody")
    cells: int | None = param(None, "how many cells to draw, as for a pilot or a spot check", otherwise="all")
    columns_per_row: int | None = param(
        None, "how many columns of each row to draw, each column equally often", otherwise="all"
    )
    once_per_row: bool = param(False, "nobody gets two cells of the same row")
    batch: int | None = param(
        None, "how many rows make a batch; one batch is done after the other", otherwise="no batches"
    )
    per_batch: int | None = param(
        None, "how many cells to draw from each finished batch of the round that this one comes `after`"
    )
    passed: str = param("", "a grid that judges what was written in a pilot: only people who passed there answer")
    pass_at: int | None = param(None, "how many positive judgements there are needed to pass")
    language: str = param("", "the language that a text must be in, such as en or fa")
    checks: Checks | None = param(None, "checks of a text while somebody writes it")
    screen: Screen = param("cell", "what one screen shows: a cell, all cells of a row, or a list of rows")
    in_order: bool = param(
        False, "the columns of a row keep their order instead of one drawn for each person; not with `screen = cell`"
    )
    author: str = param("", "the metadata column of the rows with their authors, who do not answer their own rows")
    together: Together = param("", "source: the same people answer all rows from one source", otherwise="rows apart")
    hide: Hide | None = param(
        None,
        "what is hidden from those who answer: the column, or nothing",
        otherwise="the column, if it names the model whose text people edit or judge",
    )
    edits: str = param("", "an earlier round of the grid whose texts are edited; row: the row's own text")
    after: str = param("", "an earlier round of the grid in which a cell must have an answer first")
    models: Models = param(
        (), "the models that answer, instead of people: NAME=service:MODEL, NAME=local:MODEL or NAME=canned:FILE"
    )
    probabilities: bool = param(
        False, "models give the probability of each answer to a closed question, instead of writing one"
    )
    prompt: str = param("", "what models are asked, with {row} and {column} for the texts of a cell")
    prompt_file: Path | None = param(None, "a file with the prompt, instead of `prompt`")
    definitions: Definitions = param((), "for each column, the text that replaces {definition} in the prompt")
    examples: str = param("", "an earlier grid; {examples} in the prompt shows some of the texts written there")
    n_examples: int = param(10, "how many examples a row has: the texts on the nearest rows of that grid")
    example_model: str = param("paraphrase-multilingual-mpnet-base-v2", "the encoder that finds the nearest rows")
    reviewed: bool = param(True, "models are shown only examples that a person approved; false: all of them")
    people: int | None = param(
        None, "how many people answer; if not given, those with the role that `people` lists", bounds=N_PEOPLE
    )
    seed: int = param(0, "random seed")


DESIGNED = tuple(item.name for item in fields(RoundDesign) if item.name != "prompt_file")
"""The options that a study keeps as the plan has them; of a prompt it keeps the text, and not the file."""


@dataclass(frozen=True)
class RoundOptions(RoundDesign):
    """Options that a study keeps for assigning and showing a round; an older round has the defaults of what it lacks.

    Beside what its plan says: `hides` is the side that those who answer are not shown; with `answers_rows` a written
    text is known by the row that it answers, too, so that the same words to two rows are two texts; with `rewords_rows`
    what is written is the row's text in other words, such as a translation that is mended. A round of `known` pairs
    (`known_pairs.Known`) has those of the round that it is `known_for`. `calibrates` names the round for which people
    calibrate themselves in this one; `again` says that it has their answers after the discussion.
    """

    answers_rows: bool = False
    hides: str | None = None
    rewords_rows: bool = False
    known: str = ""
    known_for: str = ""
    calibrates: str = ""
    again: bool = False

    def as_json(self) -> dict[str, Any]:
        """Options as JSON, in the form that a row of the study has them and `from_params` reads."""
        return {name: value for name, value in as_params(self).items() if name in DESIGNED or value}

    @property
    def hides_column(self) -> bool:
        """Return whether those who answer are not shown the column, nor by any number which one it is."""
        return self.hides == "column"

    @property
    def edits_row(self) -> bool:
        """Return whether the row's own text is edited, for which no earlier round is needed."""
        return self.rewords_rows and self.edits == ROW

    @property
    def edits_round(self) -> str:
        """The round of the grid whose texts are edited in this one; empty where none are, or the rows are."""
        return "" if self.edits_row else self.edits

    @property
    def rests_on(self) -> str:
        """The round of the grid in which a cell must have an answer first; empty if there is none."""
        return self.edits_round or self.after

    @property
    def excludes_earlier_answerers(self) -> bool:
        """Return whether who answered a cell in the round that this one rests on is not given it here.

        Only where everybody is asked, once after the other, it is the same people who answer both.
        """
        return bool(self.edits_round or self.calibrates or not self.asks_everybody)

    @property
    def asks_everybody(self) -> bool:
        """Return whether each cell is answered by everybody with the role, whenever they come."""
        return self.answers == 0

    @property
    def shows_whole_rows(self) -> bool:
        """Return whether people answer row by row, with all its cells on the screen, perhaps among others."""
        return self.screen != "cell"

    @property
    def keeps_sources_together(self) -> bool:
        """Return whether the same people answer all rows that are from one source."""
        return self.together == "source"
