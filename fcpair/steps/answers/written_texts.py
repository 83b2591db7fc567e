"""What was written in a round, as one table: each text with what it answers, its types, and who wrote it."""

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
from fcpair.store.corpus.grids import number_of

if TYPE_CHECKING:
    import pandas as pd

BETWEEN = "; "


def writings(tx: Tx, name: str | None = None) -> pd.DataFrame:
    """The texts of the current answers of a round, by cell and writer; without a name, of the round that counts.

    Columns: `cell`, `hs` (the row's text), `type` (the column's), `cn` (what was written), `types` (the column's, and
    what the first question of several labels adds, separated by semicolons; where the column is none of those labels,
    these alone), `by`, `simulated`; and where there are any `original` (what was edited), `group` and `language` (of
    the row).

    Raises:
        UnknownIdError: no such round.
        StageError: no text is written there, or none was.
    """
    of = rounds.counting(tx) if name is None else rounds.named(tx, name)
    form = form_of(of.form)
    if form.writes is None:
        raise StageError(f"no text is written in round `{of.name}`, so there is none to export")
    given = judgements.values(tx, of)
    said = {value: form.load(value) for value in given["value"].dropna().unique()}
    texts = {value: form.text(answer) for value, answer in said.items()}
    there = given[given["value"].map(texts, na_action="ignore").notna()]
    if there.empty:
        raise StageError(f"nothing has been written in round `{of.name}` yet")
    table = _placed(tx, there.assign(cn=there["value"].map(texts)))
    labels = {value: _labels(form, json.loads(value)) for value in there["value"].unique()}
    _, known = _asked_types(form)
    pairs = zip(table["type"], there["value"], strict=True)
    table["types"] = [_types(kind, labels[value], known) for kind, value in pairs]
    return _with_originals(tx, of, table, there)


def _placed(tx: Tx, there: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    placed = there.join(cells.by_id(tx, there["cell_id"]).set_index("cell_id"), on="cell_id")
    texts = cells.texts_of_grid(tx).set_index("text_id")
    own = texts.reindex(placed["hs_id"])
    table = pd.DataFrame(
        {
            "cell": number_of(there["cell_id"]).to_numpy(),
            "hs": own["body"].to_numpy(),
            "type": placed["cn_id"].map(texts["body"]).to_numpy(),
            "cn": there["cn"].to_numpy(),
            "types": "",
            "by": there["annotator"].to_numpy(),
            "simulated": (there["origin"] == Origin.SIMULATED.value).to_numpy(),
        }
    )
    groups = [str(meta.get("group", "")) for meta in own["meta"]]
    languages = [language or "" for language in own["language"]]
    return table.assign(**{name: one for name, one in (("group", groups), ("language", languages)) if any(one)})


def _labels(form: Form, said: dict[str, Any]) -> Sequence[str]:
    """The labels of the first question that asks for several; none where there is no such question."""
    name, _ = _asked_types(form)
    return said[name] or () if name else ()


def _asked_types(form: Form) -> tuple[str, Sequence[str] | None]:
    """The name and the labels of that question; None for the labels where there is none."""
    return next(((name, one.names) for name, one in form.questions if isinstance(one, AnyOf)), ("", None))


def _types(asked: str, labels: Sequence[str], known: Sequence[str] | None) -> str:
    first = [asked] if known is None or asked in known else []
    return BETWEEN.join([*first, *(one for one in labels if one != asked)])


def _with_originals(tx: Tx, of: Round, table: pd.DataFrame, there: pd.DataFrame) -> pd.DataFrame:
    if not of.options.edits:
        return table
    return table.assign(original=there["cell_id"].map(authorship.originals(tx, of)).to_numpy())
