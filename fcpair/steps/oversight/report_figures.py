"""What the parts of a report have in common: what was decided in a grid, its tiers, and what each person did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fcpair.params import Partition
from fcpair.records import Person, Role, Round, Rule, Status, Verdict
from fcpair.report.data import Decided, PersonFigures, TierFigures
from fcpair.stages.questions import Closed
from fcpair.stages.questions.labels import no_tiers
from fcpair.steps.release.partition import tiers_of
from fcpair.steps.rules import pair_counts
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.people import people

if TYPE_CHECKING:
    import pandas as pd


def standing(tx: Tx) -> pd.DataFrame:
    """The decision that stands on each cell, as `judgements.standing_cells` has it, without those taken back."""
    there = judgements.standing_cells(tx)
    return there[there["rule"] != Rule.REOPENED.value]


def decided(tx: Tx, question: Closed, rules: Partition, there: pd.DataFrame, *, labelled: bool) -> Decided:
    """What was decided in a grid, of which `there` is what is `standing`, and the tiers where it is `labelled`."""
    used = there["rule"].value_counts().sort_index()
    return Decided(
        question=question,
        rules_used=dict(zip(used.index.tolist(), used.tolist(), strict=True)),
        n_need_person=pair_counts.tally(tx).pairs.wait_for_person,
        tiers=_tier_figures(tx, rules) if labelled and not no_tiers(question) else None,
        no_tiers=no_tiers(question),
    )


def _tier_figures(tx: Tx, options: Partition) -> TierFigures:
    tiers = tiers_of(tx, options)
    verdict = tiers.pairs["verdict"]
    return TierFigures(
        diamond=options.diamond,
        rules=tuple((rule.tier.label, str(rule)) for rule in reversed(tiers.rules)),
        tables=tiers.tables,
        n_labelled=len(tiers.pairs),
        n_final=int((tiers.pairs["final"] >= 0).sum()),
        n_verdicts=int((verdict >= 0).sum()),
        n_valid=int((verdict == Verdict.AGREE).sum()),
    )


def given_people(
    tx: Tx, role: Role, round_: Round, question: Closed | None, given: pd.DataFrame
) -> tuple[PersonFigures, ...]:
    """Everybody in a role, and whoever else has had work in its round; answers are counted if there is a `question`.

    `given` are the assignments, as `assignments.counts` has them.
    """
    answers = judgements.all_answers(tx, round_)
    given = given[given["round"] == round_.name]
    there = [one for one in people.people(tx) if one.role is role or (given["person_id"] == one.id).any()]
    return tuple(_person(one, answers[answers["person_id"] == one.id], question, given) for one in there)


def _person(one: Person, answers: pd.DataFrame, question: Closed | None, given: pd.DataFrame) -> PersonFigures:
    own = given[given["person_id"] == one.id]
    n: dict[str, Any] = {status.value: int(own["n"][own["status"] == status.value].sum()) for status in Status}
    seconds = answers["seconds"].dropna()
    return PersonFigures(
        name=one.name,
        role=one.role,
        retired=one.retired,
        assigned=int(own["n"].sum()),
        **n,
        answers=tuple(int((answers["code"] == choice.code).sum()) for choice in question or ()),
        median_s=float(seconds.median()) if len(seconds) else None,
        n_timed=len(seconds),
        notes=int((answers["note"] != "").sum()),
    )
