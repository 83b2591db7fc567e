"""TREC runs, read and written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fcpair.errors import InputError
from fcpair.evaluate.ranking import NOTHING, Ranking, Search, sort_by_score
from fcpair.evaluate.trec_run import Run, run_text

SEARCH = Search(("first", "second"), ("p", "q", "r"), (10, 20), (7, 8, 9))


def ranked(folder: Path, text: str) -> Ranking:
    path = folder / "mine.trec"
    path.write_text(text, "utf-8")
    return Run(path).rank(SEARCH)


def test_the_order_is_that_of_the_scores_not_of_the_lines(tmp_path: Path) -> None:
    text = "10 Q0 9 2 0.5 me\n10 Q0 7 1 0.9 me\n20 Q0 8 1 1 me\n"
    assert ranked(tmp_path, text).order.tolist() == [[0, 2], [1, NOTHING]]


def test_ties_are_broken_by_candidate_order(tmp_path: Path) -> None:
    text = "10 Q0 9 1 0.5 me\n10 Q0 8 2 0.5 me\n10 Q0 7 3 0.5 me\n20 Q0 8 1 1 me\n"
    assert ranked(tmp_path, text).order[0].tolist() == [0, 1, 2]


def test_ties_are_counted_in_one_note(tmp_path: Path) -> None:
    text = "10 Q0 9 1 0.5 me\n10 Q0 8 2 0.5 me\n10 Q0 7 3 0.4 me\n20 Q0 8 1 0.5 me\n"
    (note,) = ranked(tmp_path, text).notes
    assert (
        note == "tied: 2 of 4 lines have the score of another line of the same HS; ties are broken by candidate order"
    )
    assert ranked(tmp_path, "10 Q0 9 1 0.5 me\n20 Q0 8 1 0.5 me\n").notes == ()


def test_a_run_over_more_than_the_pool_is_told_the_way_out_once(tmp_path: Path) -> None:
    outside = "".join(f"10 Q0 {cn} {rank} 0.1 me\n" for rank, cn in enumerate(range(100, 120), 2))
    with pytest.raises(InputError) as caught:
        ranked(tmp_path, f"10 Q0 7 1 0.9 me\n20 Q0 7 1 0.9 me\n{outside}")
    assert str(caught.value).count("rank only the CNs that `fcpair export corpus` writes, or evaluate on more") <= 1
    assert all("`--pool all`" in one.message for one in caught.value.findings)


def test_tabs_blank_lines_and_a_byte_order_mark_are_let_through(tmp_path: Path) -> None:
    text = "\ufeff10\tQ0\t9\t1\t0.5\tme\n\n20 Q0 8 0 1 me\r\n"
    assert ranked(tmp_path, text).order.tolist() == [[2], [1]]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("10 Q0 5 2 0.1 me", r":3: cn_id 5 is not in the pool"),
        ("30 Q0 7 1 0.1 me", r":3: hs_id 30 is not an HS of the study"),
        ("10 Q0 8 1 0.1 me", r":3: rank 1 is duplicated for HS 10"),
        ("10 Q0 7 2 0.1 me", r":3: cn_id 7 is duplicated for HS 10"),
        ("10 Q0 8 2 nan me", r":3: score is `nan`; expected a finite number"),
        ("10 Q0 8 2 inf me", r":3: score is `inf`; expected a finite number"),
        ("10 Q0 8 2 high me", r":3: score is `high`; expected a finite number"),
        ("10 Q0 8 2 0.1", r":3: 5 columns; expected 6"),
        ("ten Q0 8 2 0.1 me", r":3: hs_id is `ten`; expected a whole number"),
        ("10 Q0 8 -2 0.1 me", r":3: rank is `-2`; expected a whole number"),
        ("10 Q0 8 2 0.95 me", r":3: rank 2 of HS 10 has a higher score than the rank above it"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ranked(tmp_path, f"10 Q0 7 1 0.9 me\n20 Q0 7 1 0.9 me\n{line}\n")


def test_a_missing_query_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1 of 2 HS have no line: 20"):
        ranked(tmp_path, "10 Q0 7 1 0.9 me\n")


def test_every_finding_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="4 things are wrong") as caught:
        ranked(tmp_path, "10 Q0 5 1 0.9 me\n30 Q0 7 1 0.9 me\n10 Q0 5 1 0.1 me\n20 Q0 7 1 0 me\n")
    assert [finding.line for finding in caught.value.findings] == [1, 2, 3, 3]


@pytest.mark.parametrize(("content", "said"), [(b"", "the run is empty"), (b"\xff\xfe\x00", "not UTF-8")])
def test_a_file_that_is_no_run_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "mine.trec").write_bytes(content)
    with pytest.raises(InputError, match=said):
        Run(tmp_path / "mine.trec").rank(SEARCH)


def test_a_run_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        Run(tmp_path / "none.trec").rank(SEARCH)


def test_a_folder_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder; name a file"):
        Run(tmp_path).rank(SEARCH)


def test_lines_for_an_hs_that_is_not_evaluated_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "mine.trec"
    path.write_text("10 Q0 9 1 0.5 me\n20 Q0 8 1 1 me\n30 Q0 7 1 1 me\n", "utf-8")
    assert Run(path).rank(replace(SEARCH, other_hs_ids=(30,))).order.tolist() == [[2], [1]]


OWN = replace(
    SEARCH, corpus_ids={"hs": {"q1": {10}, "q2": {20}, "q3": {30}}, "cn": {"p": {7}, "pp": {7}, "q": {8}, "z": {5}}}
)


def by_own_ids(folder: Path, *lines: str) -> Ranking:
    path = folder / "mine.trec"
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return Run(path, "corpus").rank(OWN)


def test_a_run_may_have_the_ids_of_the_corpus_and_what_is_not_in_the_pool_leaves_its_rank(tmp_path: Path) -> None:
    """`z` is no CN of the pool, `q3` no HS that is evaluated, `pp` the same text as `p`; a rank without a CN stays."""
    found = by_own_ids(
        tmp_path,
        "q1 Q0 z 1 9 me",
        "q1 Q0 q 2 8 me",
        "q1 Q0 nothing-3 3 7 me",
        "q1 Q0 pp 4 6 me",
        "q1 Q0 p 5 5 me",
        "q2 Q0 p 1 1 me",
        "q3 Q0 p 1 1 me",
    )
    assert found.order.tolist() == [[1, NOTHING, 0], [0, NOTHING, NOTHING]]
    assert found.scores[0].tolist() == [8, 7, 6]
    assert found.notes == (
        "ignored: 1 of 6 lines, which name a CN of the corpus that is not in the pool",
        "ignored: 1 of 6 lines, which repeat, by another id, a text ranked above",
    )


def test_a_run_by_the_corpus_that_has_nothing_of_the_pool_for_an_hs_ranks_nothing_for_it(tmp_path: Path) -> None:
    assert by_own_ids(tmp_path, "q1 Q0 p 1 1 me", "q2 Q0 z 1 1 me").order.tolist() == [[0], [NOTHING]]


def test_the_numbers_of_the_study_are_no_ids_of_the_corpus(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2 things are wrong") as caught:
        by_own_ids(tmp_path, "10 Q0 7 1 0.9 me", "q2 Q0 7 1 0.9 me")
    assert [finding.message for finding in caught.value.findings] == [
        "hs_id `10` is not in the corpus",
        "cn_id `7` is not in the corpus",
    ]
    with pytest.raises(InputError, match="1 of 2 HS have no line: q2"):
        by_own_ids(tmp_path, "q1 Q0 p 1 1 me")


def test_a_run_of_which_the_pool_has_nothing_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="names no CN of the pool"):
        by_own_ids(tmp_path, "q1 Q0 z 1 1 me", "q2 Q0 z 1 1 me")


def test_a_run_has_a_line_for_each_rank() -> None:
    order, scores = sort_by_score(np.array([[0.25, 1.5, 0.25], [3.0, 2.0, 1.0]]))
    written = run_text(Ranking(order, scores), SEARCH, "tfidf")
    assert written.splitlines()[:3] == [
        "10 Q0 8 1 1.5 tfidf",
        "10 Q0 7 2 0.25 tfidf",
        "10 Q0 9 3 0.25 tfidf",
    ]


def test_a_rank_at_which_nothing_stands_is_kept(tmp_path: Path) -> None:
    order = np.array([[1, NOTHING, 0, NOTHING], [NOTHING, 2, NOTHING, NOTHING]])
    scores = -np.arange(1.0, 5.0) * np.ones((2, 1))
    written = run_text(Ranking(order, scores), SEARCH, "llm")
    assert "10 Q0 nothing-2 2 -2.0 llm\n10 Q0 7 3" in written
    assert ranked(tmp_path, written).order.tolist() == [[1, NOTHING, 0], [NOTHING, 2, NOTHING]]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arrays(float, (2, 3), elements=st.floats(-1e6, 1e6)))
def test_a_run_that_was_written_is_read_back_the_same(tmp_path: Path, scores: np.ndarray) -> None:
    ranking = Ranking(*sort_by_score(scores))
    back = ranked(tmp_path, run_text(ranking, SEARCH, "ours"))
    assert (back.order.tolist(), back.scores.tolist()) == (ranking.order.tolist(), ranking.scores.tolist())
