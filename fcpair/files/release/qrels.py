"""TREC qrels: one line per judged pair, with the grade of its label or of its tier; an unjudged pair has no line."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from fcpair.stages.questions import Closed
from fcpair.stages.questions.labels import grades_of

if TYPE_CHECKING:
    import pandas as pd


def grades(pairs: pd.DataFrame, question: Closed, pool: Collection[int], *, binary: bool = False) -> pd.DataFrame:
    """Grade the judged pairs whose CN is in the pool.

    Args:
        pairs: of a tier: `cell_id`, `hs_id`, `cn_id`, `final` (code), `tier` (the best one, 1 Bronze to 4 Diamond).
        question: of the labels.
        pool: the ids of CNs.
        binary: give every appropriate pair 1, every other one 0.

    Returns:
        `hs_id`, `cn_id`, `grade`, by number of the pair. Where the labels are grades (`grades_of`), the
        grade is that of the label. Else it is 0 for a pair that is not appropriate, and the rank of its best tier, 1
        to 4, for one that is; 1, too, where it is in a tier of the study's own and in none of the four.
    """
    inside = pairs[pairs["cn_id"].isin(pool)].sort_values("cell_id")
    appropriate = inside["final"].isin(question.positive)
    by_label = grades_of(question)
    if binary:
        grade = appropriate
    elif by_label:
        grade = inside["final"].map(by_label)
    else:
        grade = inside["tier"].clip(lower=1).where(appropriate, 0)
    return inside[["hs_id", "cn_id"]].assign(grade=grade.astype("int64")).reset_index(drop=True)


def qrels_text(graded: pd.DataFrame) -> str:
    """The lines of a qrels file, `hs_id 0 cn_id grade`, from what `grades` returns."""
    text: str = graded.assign(iteration=0)[["hs_id", "iteration", "cn_id", "grade"]].to_csv(
        sep=" ", header=False, index=False, lineterminator="\n"
    )
    return text
