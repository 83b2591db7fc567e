"""Agreement, and from several labels to one."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from fcpair import adjudicate as adjudication
from fcpair.agree import Agreement, AgreementOptions, agreement
from fcpair.answers import read_answers
from fcpair.errors import InputError, StageError
from fcpair.label import NO_CODE, SKIP, outcome_words
from fcpair.params import Adjudicate
from fcpair.records import BY_HAND, Conflict, DryRun, Person, Role, Rule, RunRecord
from fcpair.steps import staff
from fcpair.steps.ground import need_labels, note, note_run, scheme_of, texts_of
from fcpair.steps.record import SUPERSEDE, locate
from fcpair.store import Store, Tx, decisions, docket, people, runs

if TYPE_CHECKING:
    import pandas as pd


def measure_agreement(store: Store, options: AgreementOptions) -> Agreement:
    """Measure agreement on the current labels, before adjudication."""
    with store.read() as tx:
        need_labels(tx, "agreement")
        labels = decisions.current_labels(tx, "pair_id", "hs_id", "cn_id", "annotator", "code")
        return agreement(labels, scheme_of(tx), options)


def note_agreement(store: Store, options: AgreementOptions) -> RunRecord:
    """Measure agreement, and make these options the study's own."""
    measured = measure_agreement(store, options)
    counts = {"labels": measured.n_labels, "pairs": measured.n_pairs, "overlapped": measured.n_overlapped}
    with store.write() as tx:
        return note(tx, options, counts | {figure.name: figure.value for figure in measured.pooled})


def adjudicate(store: Store, options: Adjudicate) -> RunRecord:
    """Decide what the policy decides.

    What a person or a file has decided stands, and a decision that still holds is not written again. A decision that
    rested on labels which have changed since is taken back, unless the policy replaces it.
    """
    import pandas as pd

    with store.write() as tx:
        need_labels(tx, "adjudicate")
        labelled = _with_standing(tx, _by_policy(tx, options))
        outcome = _undecided_by_hand(labelled)
        decided = outcome[outcome["decided"]]
        new = decided[~decided["stands"] | (decided["code"] != decided["old_code"])]
        stale = pd.concat([_stale(tx, outcome[~outcome["decided"] & outcome["stands"]]), _unlabelled(tx, labelled)])
        reopened = stale.assign(rule=Rule.REOPENED.value, code=NO_CODE)
        for rows in (new, reopened):
            decisions.add_adjudications(tx, _without_code(rows)[["pair_id", "rule", "code"]])
        by_rule = decided["rule"].value_counts().sort_index()
        counts: dict[str, Any] = dict(zip(by_rule.index.tolist(), by_rule.tolist(), strict=True))
        counts |= {"new": len(new), "reopened": len(stale), "waiting": len(waiting(tx))}
        return note(tx, options, counts)


def _by_policy(tx: Tx, options: Adjudicate) -> pd.DataFrame:
    labels = decisions.current_labels(tx, "pair_id", "code")
    tallied = adjudication.tally(labels["pair_id"].to_numpy(), labels["code"].to_numpy(), scheme_of(tx))
    return adjudication.decide(tallied, options.policy, options.ties)


def _with_standing(tx: Tx, outcome: pd.DataFrame) -> pd.DataFrame:
    """The outcome of each pair beside its standing decision: `stands`, `old_rule`, `old_code` (-1: discarded)."""
    standing = decisions.current_adjudications(tx)
    standing = standing[standing["rule"] != Rule.REOPENED.value].set_index("pair_id")
    old_code = outcome["pair_id"].map(standing["code"]).fillna(NO_CODE).astype("int64")
    stands = outcome["pair_id"].isin(standing.index)
    return outcome.assign(stands=stands, old_rule=outcome["pair_id"].map(standing["rule"]), old_code=old_code)


def _undecided_by_hand(outcome: pd.DataFrame) -> pd.DataFrame:
    return outcome[~outcome["old_rule"].isin([rule.value for rule in BY_HAND])]


def _stale(tx: Tx, undecided: pd.DataFrame) -> pd.DataFrame:
    """Those standing decisions that their rule would not make any more; what the policy asks now is another matter."""
    again = _by_policy(tx, Adjudicate("majority", "discard")).set_index("pair_id").loc[undecided["pair_id"]]
    same_rule = again["rule"].to_numpy() == undecided["old_rule"].to_numpy()
    stale: pd.DataFrame = undecided[~(same_rule & (again["code"].to_numpy() == undecided["old_code"].to_numpy()))]
    return stale


def _unlabelled(tx: Tx, labelled: pd.DataFrame) -> pd.DataFrame:
    """Those decisions by rule whose pair has no label any more, because its annotators have skipped it since."""
    standing = decisions.current_adjudications(tx)
    by_hand = standing["rule"].isin([*(rule.value for rule in BY_HAND), Rule.REOPENED.value])
    return standing[~by_hand & ~standing["pair_id"].isin(labelled["pair_id"])][["pair_id"]]


def _without_code(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(code=rows["code"].astype("Int64").mask(rows["code"] == NO_CODE))


def dry_run(store: Store, options: Adjudicate) -> DryRun:
    """What the policy would decide, beside what stands; nothing is changed."""
    with store.read() as tx:
        need_labels(tx, "adjudicate")
        outcome = _with_standing(tx, _by_policy(tx, options))
    decided = outcome[outcome["decided"]]
    both = decided[decided["stands"]]
    same = both["old_code"] == both["code"]
    return DryRun(
        decided=len(decided),
        waiting=len(outcome) - len(decided),
        standing=int(outcome["stands"].sum()),
        compared=len(both),
        same=int(same.sum()),
        different=tuple(both["pair_id"][~same].tolist()),
    )


def waiting_pairs(store: Store) -> list[int]:
    """The pairs with labels that no rule has settled and nobody has decided, by number."""
    with store.read() as tx:
        return waiting(tx)


def waiting(tx: Tx) -> list[int]:
    """The pairs with labels that wait for a decision, by number."""
    return sorted(one.pair_id for one in docket.disputed(tx, scheme_of(tx).definite) if one.by is None)


def conflict(store: Store, pair_id: int) -> Conflict:
    """What an adjudicator sees of a pair: its texts, the labels and notes without names, in a shuffled order."""
    with store.read() as tx:
        hs, cn = texts_of(tx, pair_id)
        return Conflict(pair_id, hs["body"], cn["body"], shown_answers(tx, pair_id))


def shown_answers(tx: Tx, pair_id: int) -> tuple[tuple[str, str], ...]:
    """The labels of a pair by name with their notes, in an order that is the same each time and tells nobody."""
    names = {choice.code: choice.name for choice in scheme_of(tx)}
    answers = docket.labels(tx, pair_id)
    shuffled = Random(f"{runs.secret(tx)}:{pair_id}").sample(answers, len(answers))
    return tuple((SKIP if code is None else names[code], note_) for code, note_ in shuffled)


def decide_by_person(store: Store, pair_id: int, code: int | None, by: str, note_: str) -> RunRecord:
    """Record a person's decision on one pair; None discards it as irreconcilable."""
    with store.write() as tx:
        return enter_decision(tx, pair_id, code, _adjudicator(tx, by), note_)[1]


def enter_decision(
    tx: Tx, pair_id: int, code: int | None, person: Person, note_: str, *, flagged: bool = False
) -> tuple[int, RunRecord]:
    """Record an adjudicator's decision; returns its number, too.

    Raises:
        InputError: no definite label, or the adjudicator validates the pair.
    """
    if code is not None and code not in scheme_of(tx).definite:
        raise InputError(f"{code} is no definite label; expected one of {scheme_of(tx).definite}")
    texts_of(tx, pair_id)
    if docket.validates(tx, pair_id, person.id):
        raise InputError(f"`{person.name}` validates pair {pair_id}, so somebody else must decide it")
    decision_id = docket.add_decision(tx, pair_id, Rule.PERSON, code, person.id, note_, flagged=flagged)
    return decision_id, note_run(tx, "adjudicate", {"pair": pair_id, "by": person.name}, {"person": 1})


def _adjudicator(tx: Tx, name: str) -> Person:
    """The person who adjudicates; somebody new becomes an adjudicator."""
    known = {one.name: one for one in people.people(tx)}
    if name not in known:
        staff.check_pseudonym(name)
        return people.add_people(tx, [name], Role.ADJUDICATOR)[0]
    if known[name].role not in {Role.ADJUDICATOR, Role.LEAD}:
        raise InputError(f"`{name}` is {known[name].role}; adjudicators have that role, or lead")
    return known[name]


def take_back(store: Store, pair_id: int, by: str) -> RunRecord:
    """Take the standing decision on a pair back, so that it waits again; it stays in the record."""
    with store.write() as tx:
        texts_of(tx, pair_id)
        if docket.standing(tx, pair_id) is None:
            raise StageError(f"no decision on pair {pair_id} stands, so there is none to take back")
        return enter_reopening(tx, pair_id, _adjudicator(tx, by))[1]


def enter_reopening(tx: Tx, pair_id: int, person: Person) -> tuple[int, RunRecord]:
    """Record that an adjudicator takes the standing decision on a pair back; returns the number of that, too."""
    decision_id = docket.add_decision(tx, pair_id, Rule.REOPENED, None, person.id)
    return decision_id, note_run(tx, "adjudicate", {"pair": pair_id, "by": person.name}, {"reopened": 1})


def import_outcomes(store: Store, path: str | Path, *, supersede: bool) -> RunRecord:
    """Record the decisions of a file: `pair` (or `hs` and `cn`), `label`, and if there `adjudicator`, `note`.

    Decisions that stand already are not written again; another decision by hand is replaced only to `supersede`.
    """
    with store.write() as tx:
        need_labels(tx, "adjudicate")
        incoming = read_answers(path, outcome_words(scheme_of(tx)), person="adjudicator", answer="label", named=False)
        locate(tx, incoming)
        names = {name: _adjudicator(tx, name).id for name in dict.fromkeys(incoming.rows["person"]) if name}
        person_id = incoming.rows["person"].map(names).astype("Int64")
        checked = staff.validates(tx, incoming.rows["pair_id"], person_id.fillna(NO_CODE))
        pairs = zip(incoming.rows["pair_id"], incoming.rows["person"], strict=True)
        incoming.complain(checked, (f"{name} validates pair {pair}, so cannot decide it" for pair, name in pairs))
        outcome = _with_standing(tx, incoming.rows.assign(person_id=person_id, rule=Rule.IMPORTED.value))
        by_hand = outcome["old_rule"].isin([rule.value for rule in BY_HAND])
        same = outcome["old_code"] == outcome["code"]
        if not supersede:
            messages = (f"pair {pair} has been decided otherwise already; {SUPERSEDE}" for pair in outcome["pair_id"])
            incoming.complain((by_hand & ~same).to_numpy() & ~incoming.faulty, messages)
        incoming.accepted()
        new = outcome[~(by_hand & same)]
        decisions.add_adjudications(tx, _without_code(new)[["pair_id", "rule", "code", "person_id", "note"]])
        counts = {"imported": len(new), "already_there": len(outcome) - len(new)}
        return note_run(tx, "adjudicate", {"import": str(path), "supersede": supersede}, counts)
