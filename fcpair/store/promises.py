"""Whether the promises hold, as far as a study at rest can show: the rules on people, work, codes and the grid."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Table, exists, func, select

from fcpair.records import Origin, Role, Round, Rule, Status
from fcpair.store.grids import GRID_ID, corpus_cells
from fcpair.store.soundness import Found
from fcpair.store.store import Tx
from fcpair.store.tables import adjudication, assignment, candidate, judgement, pair, person, selected_hs


def _n(tx: Tx, table: Table) -> int:
    return int(tx.execute(select(func.count()).select_from(table)).scalar_one())


def checkers(tx: Tx) -> Found:
    """Who validates a pair neither labelled nor decided it, and who decided it did not label it."""
    label = assignment.alias("label")
    labelled = (
        exists()
        .where(label.c.id == judgement.c.assignment_id, judgement.c.withdraws.is_(None))
        .where(label.c.round == Round.LABEL.value)
    )
    decided = adjudication.c.rule.in_((Rule.PERSON.value, Rule.IMPORTED.value))
    checks = (
        select(person.c.name, assignment.c.pair_id)
        .join(person, person.c.id == assignment.c.person_id)
        .where(assignment.c.round == Round.VALIDATE.value, assignment.c.status != Status.WITHDRAWN.value)
    )
    decides = select(person.c.name, adjudication.c.pair_id).join(person, person.c.id == adjudication.c.person_id)
    of_check = (assignment.c.pair_id, assignment.c.person_id)
    of_decision = (adjudication.c.pair_id, adjudication.c.person_id)
    by_them = (of_decision[0] == of_check[0]) & (of_decision[1] == of_check[1])
    queries = (
        (
            "validates",
            "labelled",
            checks.where(labelled.where(label.c.pair_id == of_check[0], label.c.person_id == of_check[1])),
        ),
        ("validates", "decided", checks.where(exists().where(by_them, decided))),
        (
            "decided",
            "labelled",
            decides.where(
                decided, labelled.where(label.c.pair_id == of_decision[0], label.c.person_id == of_decision[1])
            ).distinct(),
        ),
    )
    faults = [
        f"`{name}` {does} pair {pair_id}, and {did} it too"
        for does, did, query in queries
        for name, pair_id in tx.execute(query)
    ]
    n_checks = select(func.count()).select_from(checks.subquery())
    n_decisions = select(func.count()).select_from(decides.where(decided).subquery())
    return Found(sum(int(tx.execute(query).scalar_one()) for query in (n_checks, n_decisions)), faults)


def slots(tx: Tx) -> Found:
    """What is done has an answer, what is skipped a skip, and what is open to be labelled has none."""
    newest = select(func.max(judgement.c.id)).where(judgement.c.assignment_id == assignment.c.id).correlate(assignment)
    stands = judgement.c.id.is_not(None) & judgement.c.withdraws.is_(None)
    answered, skipped = stands & ~judgement.c.skipped, stands & judgement.c.skipped
    is_ = assignment.c.status
    label = assignment.c.round == Round.LABEL.value
    query = (
        select(person.c.name, assignment.c.pair_id, is_)
        .select_from(assignment)
        .join(person, person.c.id == assignment.c.person_id)
        .outerjoin(judgement, judgement.c.id == newest.scalar_subquery())
        .where(
            ((is_ == Status.DONE.value) & ~func.coalesce(answered, False))
            | ((is_ == Status.SKIPPED.value) & ~func.coalesce(skipped, False))
            | ((is_ == Status.OPEN.value) & label & func.coalesce(answered, False))
            | is_.not_in([one.value for one in Status])
        )
        .order_by(assignment.c.id)
    )
    rows = tx.execute(query)
    return Found(
        _n(tx, assignment),
        [f"pair {one} of `{name}` is {is_}, but its answers say otherwise" for name, one, is_ in rows],
    )


def codes(tx: Tx, labels: Sequence[int], definite: Sequence[int], verdicts: Sequence[int]) -> Found:
    """Every answer is one of its round or a skip, which has none; every decision is a definite label or none."""
    label = assignment.c.round == Round.LABEL.value
    wrong = (
        (judgement.c.skipped != judgement.c.code.is_(None))
        | (judgement.c.withdraws.is_not(None) & ~judgement.c.skipped)
        | (label & judgement.c.code.not_in(labels))
        | (~label & judgement.c.code.not_in(verdicts))
        | judgement.c.own_code.not_in(labels)
        | assignment.c.round.not_in([one.value for one in Round])
        | judgement.c.origin.not_in([one.value for one in Origin])
    )
    answers = select(judgement.c.id).join(assignment, assignment.c.id == judgement.c.assignment_id).where(wrong)
    unknown = adjudication.c.code.not_in(definite) | adjudication.c.rule.not_in([one.value for one in Rule])
    decisions = select(adjudication.c.id).where(unknown)
    roles = select(person.c.name).where(person.c.role.not_in([one.value for one in Role]))
    faults = [
        *(f"answer {number} is none that can be given" for number in tx.execute(answers).scalars()),
        *(f"decision {number} is none that can be made" for number in tx.execute(decisions).scalars()),
        *(f"`{name}` has a role that there is not" for name in tx.execute(roles).scalars()),
    ]
    return Found(_n(tx, judgement) + _n(tx, adjudication), faults)


def consents(tx: Tx) -> Found:
    """Nobody answered online who had not consented."""
    online = judgement.c.origin == Origin.ONLINE.value
    answers = (
        select(person.c.name, func.count().label("n"))
        .join(assignment, assignment.c.person_id == person.c.id)
        .join(judgement, judgement.c.assignment_id == assignment.c.id)
        .where(online, person.c.consented_at.is_(None))
        .group_by(person.c.name)
        .order_by(person.c.name)
    )
    n = int(tx.execute(select(func.count()).select_from(judgement).where(online)).scalar_one())
    return Found(
        n, [f"`{name}` answered online ({times:,}) and never consented" for name, times in tx.execute(answers)]
    )


def whole_grid(tx: Tx, *, keep_known: bool) -> Found:
    """The grid is the product of its sides less the pairs of the corpus, each under its number and so only once."""
    drawn = (
        select(candidate.c.text_id, func.row_number().over(order_by=candidate.c.position).label("at"))
        .where(candidate.c.drawn)
        .subquery()
    )
    n_drawn = int(tx.execute(select(func.count()).where(candidate.c.drawn)).scalar_one())
    before = pair.c.id - 1
    misplaced = (
        select(pair.c.id)
        .outerjoin(selected_hs, selected_hs.c.position == before // max(n_drawn, 1) + 1)
        .outerjoin(drawn, drawn.c.at == before % max(n_drawn, 1) + 1)
        .where(
            selected_hs.c.text_id.is_distinct_from(pair.c.hs_id)
            | drawn.c.text_id.is_distinct_from(pair.c.cn_id)
            | (pair.c.grid_id != GRID_ID)
        )
    )
    n = _n(tx, pair)
    faults = [f"pair {number} is not the one of its place in the grid" for number in tx.execute(misplaced).scalars()]
    known = corpus_cells(tx)
    expected = _n(tx, selected_hs) * n_drawn - (0 if keep_known else len(known))
    if n and n != expected:
        faults.append(f"the grid has {n:,} pairs, where it should have {expected:,}")
    return Found(n, faults)


def published_grid(tx: Tx) -> Found:
    """Each pair of a grid that came from a file is one of the two sides, and there once."""
    outside = pair.c.hs_id.not_in(select(selected_hs.c.text_id)) | pair.c.cn_id.not_in(select(candidate.c.text_id))
    twice = select(func.max(pair.c.id)).group_by(pair.c.hs_id, pair.c.cn_id).having(func.count() > 1)
    faults = [
        *(
            f"pair {one} is not of the sides of the grid"
            for one in tx.execute(select(pair.c.id).where(outside)).scalars()
        ),
        *(f"pair {one} is there a second time" for one in tx.execute(twice).scalars()),
    ]
    return Found(_n(tx, pair), faults)
