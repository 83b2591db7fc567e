"""TREC runs, read and written."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fcpair.errors import InputError
from fcpair.evaluate.systems import NOTHING, Ranking, Run, Search, run_text, sort_by_score
from fcpair.files.release.trec_runs import TextIds
from fcpair.params import Ids

NUMBERS = {"hs": TextIds({}, {10, 20, 30}), "cn": TextIds({}, {4, 7, 8, 9})}
SEARCH = Search(("first", "second"), ("p", "q", "r"), (10, 20), (7, 8, 9), ids=NUMBERS)


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


def test_tabs_blank_lines_and_a_byte_order_mark_are_let_through(tmp_path: Path) -> None:
    text = "\ufeff10\tQ0\t9\t1\t0.5\tme\n\n20 Q0 8 0 1 me\r\n"
    assert ranked(tmp_path, text).order.tolist() == [[2], [1]]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("10 Q0 5 2 0.1 me", r":3: cn_id `5` is not in the study"),
        ("40 Q0 7 1 0.1 me", r":3: hs_id `40` is not in the study"),
        ("10 Q0 8 1 0.1 me", r":3: rank 1 is duplicated for HS 10"),
        ("10 Q0 7 2 0.1 me", r":3: cn_id 7 is duplicated for HS 10"),
        ("10 Q0 8 2 nan me", r":3: score is `nan`; expected a finite number"),
        ("10 Q0 8 2 inf me", r":3: score is `inf`; expected a finite number"),
        ("10 Q0 8 2 high me", r":3: score is `high`; expected a finite number"),
        ("10 Q0 8 2 0.1", r":3: 5 columns; expected 6"),
        ("ten Q0 8 2 0.1 me", r":3: hs_id `ten` is not in the study"),
        ("10 Q0 8 -2 0.1 me", r":3: rank is `-2`; expected a whole number"),
        ("10 Q0 8 2 0.95 me", r":3: rank 2 of HS 10 has a higher score than the rank above it"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ranked(tmp_path, f"10 Q0 7 1 0.9 me\n20 Q0 7 1 0.9 me\n{line}\n")


def test_every_finding_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="4 things are wrong") as caught:
        ranked(tmp_path, "10 Q0 5 1 0.9 me\n40 Q0 7 1 0.9 me\n10 Q0 5 1 0.1 me\n20 Q0 7 1 0 me\n")
    assert [finding.line for finding in caught.value.findings] == [1, 2, 3, 3]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the run is empty"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"10 Q0 7 1 0.9 me\n", "1 of 2 HS have no line: 20"),
        (None, "there is no such file"),
    ],
)
def test_a_file_that_is_no_run_is_refused(tmp_path: Path, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / "mine.trec").write_bytes(content)
    with pytest.raises(InputError, match=said):
        Run(tmp_path / "mine.trec").rank(SEARCH)
    with pytest.raises(InputError, match="is a folder; name a file"):
        Run(tmp_path).rank(SEARCH)


def test_lines_for_an_hs_that_is_not_evaluated_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "mine.trec"
    path.write_text("10 Q0 9 1 0.5 me\n20 Q0 8 1 1 me\n30 Q0 7 1 1 me\n", "utf-8")
    assert Run(path).rank(SEARCH).order.tolist() == [[2], [1]]


OWN = replace(
    SEARCH,
    ids={
        "hs": TextIds({"q1": {10}, "q2": {20}, "q3": {30}}, {10, 20, 30}),
        "cn": TextIds({"p": {7}, "pp": {7}, "q": {8}, "z": {5}}, {5, 7, 8, 9}),
    },
)


def by_own_ids(folder: Path, *lines: str) -> Ranking:
    path = folder / "mine.trec"
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return Run(path).rank(OWN)


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
        "ignored: 1 of 6 lines, which name a CN that is not in the pool",
        "ignored: 1 of 6 lines, which repeat, by another id, a text ranked above",
    )


def test_a_run_by_the_corpus_that_has_nothing_of_the_pool_for_an_hs_ranks_nothing_for_it(tmp_path: Path) -> None:
    assert by_own_ids(tmp_path, "q1 Q0 p 1 1 me", "q2 Q0 z 1 1 me").order.tolist() == [[0], [NOTHING]]


def test_a_run_in_two_numberings_is_refused_with_lines(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2 things are wrong") as caught:
        by_own_ids(tmp_path, "10 Q0 7 1 0.9 me", "q2 Q0 7 1 0.9 me", "q1 Q0 p 1 1 me")
    assert [finding.message for finding in caught.value.findings] == [
        "hs_id `10` is not in the corpus",
        "cn_id `7` is not in the corpus",
    ]
    with pytest.raises(InputError, match="1 of 2 HS have no line: q2"):
        by_own_ids(tmp_path, "q1 Q0 p 1 1 me")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations([1, 2, 3, 4]), st.permutations([1, 2, 3, 4, 5]), st.integers(0, 5), st.data())
def test_a_run_is_read_by_its_numbering_or_refused(
    tmp_path: Path, hs_own: list[int], cn_own: list[int], shift: int, data: st.DataObject
) -> None:
    """Own ids are the study's numbers in another order, moved by `shift`: a run is never read by the other ones."""
    own = {
        "hs": TextIds({str(one + shift): {at} for at, one in enumerate(hs_own, 1)}, {1, 2, 3, 4}),
        "cn": TextIds({str(one + shift): {at} for at, one in enumerate(cn_own, 1)}, {1, 2, 3, 4, 5}),
    }
    search = Search(("a", "b"), ("p", "q", "r"), (1, 2), (1, 2, 3), ids=own)
    written_in, read_as = (data.draw(st.sampled_from(get_args(Ids))) for _ in range(2))
    named = {side: {at: word for word, (at,) in own[side].numbered_by(written_in).items()} for side in own}
    order = [data.draw(st.permutations([1, 2, 3])) for _ in range(2)]
    path = tmp_path / "mine.trec"
    path.write_text(
        "".join(
            f"{named['hs'][hs]} Q0 {named['cn'][cn]} {rank} {-rank} me\n"
            for hs, cns in enumerate(order, 1)
            for rank, cn in enumerate(cns, 1)
        ),
        "utf-8",
    )
    used = {"hs": {named["hs"][1], named["hs"][2]}, "cn": {named["cn"][cn] for cn in (1, 2, 3)}}
    fits = {
        numbering: all(used[side] <= own[side].numbered_by(numbering).keys() for side in own)
        for numbering in get_args(Ids)
    }
    run, note = Run(path, read_as), "its ids fit both numberings"
    if not fits[read_as]:
        with pytest.raises(InputError, match="its ids are"):
            run.rank(search)
    elif read_as == written_in:
        assert (run.rank(search).order + 1).tolist() == order
        assert all(fits.values()) == any(note in told for told in run.rank(search).notes)
    else:
        with suppress(InputError):  # where an HS has no line, or no CN is in the pool
            assert any(note in told for told in run.rank(search).notes)


@pytest.mark.parametrize(
    ("numbering", "line", "problem"),
    [
        ("own", "10 Q0 7 1 0.9 me\n20 Q0 8 1 0.9 me\n", "the study's numbers; .*`--ids study`"),
        (
            "study",
            "q1 Q0 p 1 0.9 me\nq2 Q0 z 1 0.9 me\n",
            "the corpus's own; expected the study's numbers; `--ids own`",
        ),
    ],
)
def test_a_run_in_the_other_numbering_is_refused_by_its_name(
    tmp_path: Path, numbering: Ids, line: str, problem: str
) -> None:
    (tmp_path / "mine.trec").write_text(line, "utf-8")
    with pytest.raises(InputError, match=problem):
        Run(tmp_path / "mine.trec", numbering).rank(OWN)


def test_a_run_of_which_the_pool_has_nothing_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="names no CN of the pool"):
        by_own_ids(tmp_path, "q1 Q0 z 1 1 me", "q2 Q0 z 1 1 me")


def test_a_run_has_a_line_for_each_rank() -> None:
    order, scores = sort_by_score(np.array([[0.25, 1.5, 0.25], [3.0, 2.0, 1.0]]))
    written = run_text(Ranking(order, scores), SEARCH, "tfidf")
    assert written.splitlines()[:3] == ["10 Q0 8 1 1.5 tfidf", "10 Q0 7 2 0.25 tfidf", "10 Q0 9 3 0.25 tfidf"]


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


@given(st.dictionaries(st.integers(1, 30), st.lists(st.sampled_from("abcdefgh12345678"), min_size=1, max_size=3)))
def test_what_files_call_texts_is_read_back_as_these_texts_or_refused(ids_by_text: dict[int, list[str]]) -> None:
    """Own ids can be those of several texts, or look like numbers: nothing is ever read back as another text."""
    own: dict[str, set[int]] = {}
    for text_id, words in ids_by_text.items():
        for word in words:
            own.setdefault(word, set()).add(text_id)
    ids = TextIds(own, frozenset(range(1, 31)), tuple(ids_by_text))
    for asked in (None, *get_args(Ids)):
        try:
            called = ids.words([*ids_by_text], "cn", asked)
        except InputError:
            assert ids.numbering(asked) == "own"
            assert any(len(named) > 1 for named in own.values())
        else:
            assert all({*ids.numbered_by(asked)[word]} == {text_id} for text_id, word in called.items())
            assert len({*called.values()}) == len(called)


def test_own_ids_hold_by_default_only_where_every_text_of_the_side_has_one() -> None:
    own: dict[str, set[int]] = {"a": {1}, "b": {2}}
    assert [TextIds(own, {1, 2, 3}, side).numbering() for side in ([1, 2], [1, 3])] == ["own", "study"]
    assert TextIds({}, {1}, [1]).numbering() == "study"
    assert TextIds(own, {1, 2, 3}, [1, 3]).numbering("own") == "own"
    with pytest.raises(InputError, match=r"1 of 2 CN have no id of their own .* cn_id 3"):
        TextIds(own, {1, 2, 3}, [1, 3]).words([1, 3], "cn", "own")
