"""Texts written in a round, as one table: each with what it answers, its types, and who wrote it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fcpair.errors import StageError
from fcpair.records import Origin, Round
from fcpair.stages.questions import AnyOf, Form
from fcpair.steps.base.answer_values import form_of
from fcpair.store import Tx
from fcpair.store.answers import authorship, judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells
from fcpair.store.corpus.grids import to_public_number

if TYPE_CHECKING:
    import pandas as pd

SEPARATOR = "; "


def written_table(tx: Tx, name: str | None = None) -> pd.DataFrame:
    """The texts of the current answers of a round, by cell and writer; without a name, of the round that counts.

    Columns: `cell`, `hs` (the row's text), `type` (the column's), `cn` (what was written), `types` (the column's, and
    what the first question of several labels adds, separated by semicolons; where the column is none of those labels,
    these alone), `by`, `simulated`; and where there are any `original` (what was edited), `group` and `language` (of
    the row).

    Raises:
        UnknownIdError: no such round.
        StageError: no text is written there, or none was.
    """
    round_ = rounds.by_name(tx, name)
    form = form_of(round_.form)
    if form.written_question is None:
        raise StageError(f"no text is written in round `{round_.name}`, so there is none to export")
    answers = judgements.answer_values(tx, round_)
    answers_by_value = {value: form.load(value) for value in answers["value"].dropna().unique()}
    texts = {value: form.text(answer) for value, answer in answers_by_value.items()}
    text_rows = answers[answers["value"].map(texts, na_action="ignore").notna()]
    if text_rows.empty:
        raise StageError(f"nothing has been written in round `{round_.name}` yet")
    table = _locate_texts(tx, text_rows.assign(cn=text_rows["value"].map(texts)))
    labels = {value: _answered_types(form, json.loads(value)) for value in text_rows["value"].unique()}
    _, known_types = _types_question(form)
    pairs = zip(table["type"], text_rows["value"], strict=True)
    table["types"] = [_join_types(kind, labels[value], known_types) for kind, value in pairs]
    return _with_originals(tx, round_, table, text_rows)


def _locate_texts(tx: Tx, text_rows: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    located = text_rows.join(cells.by_id(tx, text_rows["cell_id"]).set_index("cell_id"), on="cell_id")
    texts = cells.texts_of_grid(tx).set_index("text_id")
    row_texts = texts.reindex(located["hs_id"])
    table = pd.DataFrame(
        {
            "cell": to_public_number(text_rows["cell_id"]).to_numpy(),
            "hs": row_texts["body"].to_numpy(),
            "type": located["cn_id"].map(texts["body"]).to_numpy(),
            "cn": text_rows["cn"].to_numpy(),
            "types": "",
            "by": text_rows["annotator"].to_numpy(),
            "simulated": (text_rows["origin"] == Origin.SIMULATED.value).to_numpy(),
        }
    )
    groups = [str(meta.get("group", "")) for meta in row_texts["meta"]]
    languages = [language or "" for language in row_texts["language"]]
    return table.assign(**{name: one for name, one in (("group", groups), ("language", languages)) if any(one)})


def _answered_types(form: Form, answer: dict[str, Any]) -> Sequence[str]:
    """The labels of the first question that asks for several; none where there is no such question."""
    name, _ = _types_question(form)
    return answer[name] or () if name else ()


def _types_question(form: Form) -> tuple[str, Sequence[str] | None]:
    """The name and the labels of that question; None for the labels where there is none."""
    return next(((name, one.names) for name, one in form.questions if isinstance(one, AnyOf)), ("", None))


def _join_types(column_type: str, labels: Sequence[str], known_types: Sequence[str] | None) -> str:
    column_types = [column_type] if known_types is None or column_type in known_types else []
    return SEPARATOR.join([*column_types, *(one for one in labels if one != column_type)])


def _with_originals(tx: Tx, round_: Round, table: pd.DataFrame, text_rows: pd.DataFrame) -> pd.DataFrame:
    if not round_.options.edits:
        return table
    return table.assign(original=text_rows["cell_id"].map(authorship.originals(tx, round_)).to_numpy())
