"""The chains of answers and decisions, whichever way rows come, and which judgement of an assignment is the newest."""

from __future__ import annotations

import hashlib
from threading import Thread
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select, update

from fcpair.records import Origin, Role, Rule, Status
from fcpair.store import Store, Tx, adjudications, doctor_checks, people
from fcpair.store.answers import judgements, task_queries
from fcpair.store.assignment import assignments, rounds
from fcpair.store.database import checksums, hash_chain
from fcpair.store.database.hash_chain import ANSWERS, DECISIONS, FIRST, Head
from fcpair.store.database.tables import adjudication, assignment, guideline, judgement, person, round_, text
from fcpair.store.oversight import runs
from store.conftest import undone
from store.database.test_frames import TEXT
from store.test_invariant_checks import answered, assigned, fill

pytestmark = pytest.mark.files

AT = "2026-11-22T03:00:00.000+00:00"


def answer(assignment_id: int, code: int | None = 2, **given: Any) -> dict[str, Any]:
    row = {"assignment_id": assignment_id, "skipped": code is None, "origin": "imported", "note": ""}
    row["answer_id"] = None if code is None else code + 1
    return {**row, "at": AT, **given}


def digests(tx: Tx, table: Any = judgement) -> list[bytes]:
    return list(tx.execute(select(table.c.digest).order_by(table.c.id)).scalars())


def sha256(before: bytes, says: str) -> bytes:
    return hashlib.sha256(before + says.encode("ascii")).digest()


def placed(tx: Tx, assignment_id: int) -> Any:
    """What `hash_chain.add_answer` has to know of an assignment."""
    query = select(assignment.c.id, assignment.c.person_id, assignment.c.cell_id, *hash_chain.PLACE)
    query = query.join(round_, round_.c.id == assignment.c.round_id).where(assignment.c.id == assignment_id)
    return tx.execute(hash_chain.with_place(query)).one()


def fill_three(tx: Tx) -> None:
    """Three assignments, of which the first is answered."""
    fill(tx)
    for cell_id, person_id in ((2, 1), (1, 2)):
        assignments.add_assignments(tx, assigned(cell_id, person_id), rounds.primary(tx))


@pytest.fixture
def filled(store: Store) -> Store:
    with store.write() as tx:
        fill_three(tx)
    return store


def test_a_digest_is_of_the_one_before_it_and_of_all_that_the_answer_says(filled: Store) -> None:
    with filled.write() as tx:
        first, at = tx.execute(select(judgement.c.digest, judgement.c.at)).one()
        hash_chain.add(tx, ANSWERS, [answer(2, None, note='é "so"', seconds=3), answer(3, 0, seconds=-0.0)])
        rows = digests(tx)
        assert hash_chain.heads(tx, ANSWERS) == {1: Head(2, rows[1]), 2: Head(1, rows[2])}
        assert hash_chain.heads(tx, DECISIONS) == {hash_chain.NOBODY: Head(1, digests(tx, adjudication)[0])}
    assert first == sha256(bytes(32), f'[1,1,0,3,null,"imported",null,"","{at}",null,null,null,1,1,1,1,3]')
    says = f'[2,2,1,null,null,"imported",3.0,"\\u00e9 \\"so\\"","{AT}",null,null,null,1,2,1,1,4]'
    assert rows[1] == sha256(first, says)
    another = f'[3,3,0,1,null,"imported",0.0,"","{AT}",null,null,null,2,1,1,1,3]'
    assert rows[2] == sha256(bytes(32), another)


def test_a_decision_is_chained_to_the_one_before_it_of_the_same_person(filled: Store) -> None:
    with filled.write() as tx:
        ada, bo = people.add_people(tx, ["ada", "bo"], Role.ADJUDICATOR)
        for cell_id, code, who in ((1, 2, ada), (2, 0, bo), (3, None, ada)):
            row = {"cell_id": cell_id, "rule": Rule.PERSON.value, "code": code, "person_id": who.id, "note": "why"}
            adjudications.add_decisions(tx, [{**row, "flagged": cell_id == 2}])
        rows = tx.execute(select(adjudication.c.at, adjudication.c.digest).order_by(adjudication.c.id)).all()
    by_rule, by_ada, by_bo, again = rows
    assert by_rule.digest == sha256(FIRST, f'[1,1,"unanimous",3,null,"","{by_rule.at}",0,1,1,3]')
    assert by_ada.digest == sha256(FIRST, f'[2,1,"person",3,3,"why","{by_ada.at}",0,1,1,3]')
    assert by_bo.digest == sha256(FIRST, f'[3,2,"person",1,4,"why","{by_bo.at}",1,1,1,4]')
    assert again.digest == sha256(by_ada.digest, f'[4,3,"person",null,3,"why","{again.at}",0,1,1,5]')


def test_one_answer_alone_gets_the_digest_that_it_gets_among_many(filled: Store) -> None:
    rows = [answer(2, seconds=1.5, guideline_id=1), answer(3, None, note="x"), answer(2, 0), answer(3, 2)]
    with undone(filled) as tx:
        whole = [{**dict.fromkeys(ANSWERS.says), **row} for row in rows]
        ids = [hash_chain.add_answer(tx, row, placed(tx, row["assignment_id"])) for row in whole]
        assert ids == [2, 3, 4, 5]
        assert doctor_checks.chain_links(tx, ANSWERS).faults == []
        alone = digests(tx)
    with undone(filled) as tx:
        with_all = [{"seconds": None, "guideline_id": None, **row} for row in rows]
        assert hash_chain.add(tx, ANSWERS, with_all) == 5
        assert doctor_checks.chain_links(tx, ANSWERS).faults == []
        assert digests(tx) == alone


@given(
    st.lists(
        st.tuples(
            st.sampled_from([1, 2, 3]),
            st.sampled_from([None, 0, 1, 2]),
            TEXT,
            st.none() | st.integers(-5, 5) | st.floats(allow_infinity=False),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_whatever_is_answered_fits_when_it_is_read_again(
    lasting_store: Store, rows: list[tuple[int, int | None, str, float | None]]
) -> None:
    with undone(lasting_store) as tx:
        fill_three(tx)
        hash_chain.add(tx, ANSWERS, (answer(one, code, note=note, seconds=s) for one, code, note, s in rows))
        found = doctor_checks.chain_links(tx, ANSWERS)
        assert (found.n, found.faults) == (len(rows) + 1, [])


def test_people_who_answer_at_once_do_not_break_the_chain(filled: Store) -> None:
    def give(assignment_id: int) -> None:
        row = {"skipped": False, "answer_id": 3, "adjudication_id": None, "note": "", "seconds": 1.0, "guideline_id": 1}
        for _ in range(10):
            with filled.write() as tx:
                task_queries.add_judgement(tx, placed(tx, assignment_id), row, Status.DONE)

    threads = [Thread(target=give, args=(one,)) for one in (1, 2, 3, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with filled.read() as tx:
        found = doctor_checks.chain_links(tx, ANSWERS)
    assert (found.n, found.faults) == (41, [])


def test_rows_that_never_change_have_a_checksum_of_the_text_as_it_is_written(filled: Store) -> None:
    with filled.write() as tx:
        for table in checksums.SAYS:
            n, wrong, marks = checksums.misfits(tx, table)
            assert (n, wrong) == (len(marks), [])
            assert {len(mark) for mark in marks} == {32}
        people.add_guidelines(tx, "Read *both*.", 1)
        at, mark = tx.execute(select(guideline.c.at, guideline.c.checksum).where(guideline.c.id == 2)).one()
        assert mark == sha256(FIRST, f'[2,"Read *both*.","{at}",1]')
        assert tx.execute(select(person.c.checksum).where(person.c.id == 2)).scalar_one() == sha256(FIRST, '[2,"ben"]')
        first = tx.execute(select(text.c.checksum).where(text.c.id == 1)).scalar_one()
        assert first == sha256(FIRST, '[1,"hs","h0","hs 0","",{}]')


def test_a_case_a_space_or_a_language_that_changes_is_seen(filled: Store) -> None:
    for table, column, value in (
        (text, "body", "HS 0"),
        (text, "body", "hs 0 "),
        (text, "language", "en"),
        (text, "meta", {"a": "b"}),
        (guideline, "body", "x"),
        (person, "name", "Ana"),
    ):
        with undone(filled) as tx:
            tx.execute(table.update().where(table.c.id == 1).values(**{column: value}))
            assert checksums.misfits(tx, table)[1] == [1]


def test_an_answer_is_tied_to_the_cell_and_the_person_of_its_assignment_and_a_withdrawal_is_one(filled: Store) -> None:
    for change in ({"cell_id": 4}, {"round_id": 2}, {"person_id": 2, "cell_id": 5}):
        with undone(filled) as tx:
            tx.execute(assignment.update().where(assignment.c.id == 1).values(**change))
            assert doctor_checks.chain_links(tx, ANSWERS).faults[0].startswith("answer 1 of ")
    with undone(filled) as tx:
        judgements.withdraw(tx, [1], None)  # type: ignore[arg-type]
        found = doctor_checks.chain_links(tx, ANSWERS)
        assert (found.n, found.faults) == (2, [])
        assert tx.execute(select(judgement.c.withdraws).where(judgement.c.id == 2)).scalar_one() == 1
    with filled.write() as tx:
        tx.execute(judgement.insert(), [answer(2)])  # without a digest
        assert doctor_checks.chain_links(tx, ANSWERS).faults == [
            "answer 2 of `ana` (row 2, pair 2) does not fit the one before it: one of them was changed, moved or "
            "deleted",
            "answers of `ana`: 2 stored, 1 given",
        ]


N = 3
ONE = st.integers(1, N)
CODE = st.sampled_from([None, 0, 1, 2])


def fill_with_run(tx: Tx) -> None:
    """Three assignments, of which the first is answered, and a run that takes answers back."""
    fill_three(tx)
    assert runs.add_run(tx, "withdraw labels", {}, {}, "0").id == 1


def newest(tx: Tx) -> dict[int, int | None]:
    """Which judgement each assignment says to be its newest."""
    return {row[0]: row[1] for row in tx.execute(select(assignment.c.id, assignment.c.judgement_id))}


def looked_up(tx: Tx) -> dict[int, int | None]:
    """The same, of all judgements that there are."""
    query = select(judgement.c.assignment_id, func.max(judgement.c.id)).group_by(judgement.c.assignment_id)
    return dict.fromkeys(range(1, N + 1)) | {row[0]: row[1] for row in tx.execute(query)}


def statuses(tx: Tx) -> list[str]:
    return list(tx.execute(select(assignment.c.status).order_by(assignment.c.id)).scalars())


def give(tx: Tx, one: int, code: int | None) -> None:
    """One answer, as it comes online."""
    row = {"skipped": code is None, "adjudication_id": None, "seconds": None, "note": "", "guideline_id": None}
    answer_id = None if code is None else rounds.label_ids(tx)[code]
    status = Status.SKIPPED if code is None else Status.DONE
    task_queries.add_judgement(tx, placed(tx, one), {**row, "answer_id": answer_id}, status)


def bring(tx: Tx, answers: list[tuple[int, int | None]]) -> None:
    """Answers that come together."""
    rows = [answered(one, code, skipped=code is None) for one, code in answers]
    judgements.add_judgements(tx, pd.concat(rows, ignore_index=True), Origin.IMPORTED)


def take_back(tx: Tx, one: int) -> None:
    """Withdraw the newest answer to an assignment, if there is any."""
    if (at := newest(tx)[one]) is not None:
        judgements.withdraw(tx, [at], 1)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just(give), ONE, CODE),
            st.tuples(st.just(bring), st.lists(st.tuples(ONE, CODE), min_size=1, max_size=4)),
            st.tuples(st.just(take_back), ONE),
        ),
        max_size=6,
    )
)
def test_the_judgement_that_an_assignment_names_is_its_newest(
    lasting_store: Store, acts: list[tuple[Any, ...]]
) -> None:
    with undone(lasting_store) as tx:
        fill_with_run(tx)
        for act, *what in acts:
            act(tx, *what)
            assert newest(tx) == looked_up(tx)
        assert doctor_checks.references(tx).faults == []


def test_what_became_of_assignments_is_what_was_said_last_and_of_one_taken_back_is_left_to_be_said(
    lasting_store: Store,
) -> None:
    with undone(lasting_store) as tx:
        fill_with_run(tx)
        assert statuses(tx) == ["done", "open", "open"]
        bring(tx, [(2, None), (3, 0), (2, 1), (3, None)])
        assert statuses(tx) == ["done", "done", "skipped"]
        assignments.set_status(tx, [1], Status.WITHDRAWN)
        take_back(tx, 1)
        assert (statuses(tx)[0], newest(tx)[1]) == ("withdrawn", 6)


def test_one_that_is_not_the_newest_is_found(lasting_store: Store) -> None:
    """An older one, none, one of another or that is not there, and one where there is none."""
    for assignment_id, named, newest_id in ((1, 1, "3"), (1, None, "3"), (1, 2, "3"), (1, 99, "3"), (3, 2, "none")):
        with undone(lasting_store) as tx:
            fill_with_run(tx)
            bring(tx, [(2, 0), (1, None)])
            tx.execute(update(assignment).where(assignment.c.id == assignment_id).values(judgement_id=named))
            fault = f"says that its newest judgement is {'none' if named is None else named}, but it is {newest_id}"
            assert doctor_checks.references(tx).faults == [f"row {assignment_id} of `assignment` {fault}"]
