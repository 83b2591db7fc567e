"""The dialogue of `adjudicate`: its keys, and that every decision is kept at once."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Self

import pytest
from awaited import until
from steps.scales import rated
from steps.small import ANNOTATORS, dump, labels_of, open_work, record, standing, who_had, write_csv

from cli.conftest import At, Fcpair
from fcpair.errors import LimitError
from fcpair.params import Adjudicate, Annotate
from fcpair.records import Role
from fcpair.steps.people import terms
from fcpair.study import Study

SECONDS = 30  # before a terminal is given up


@pytest.fixture
def waiting(at: At) -> Study:
    """A study in which five pairs wait."""
    return Study(at("decided"))


def by_hand(study: Study) -> dict[int, tuple[str, int | None]]:
    return {pair: kept for pair, kept in standing(study).items() if kept[0] in {"person", "reopened"}}


REOPENED = -1
# What is pressed; what is decided then, by the place of a pair in the queue (None discards it); what is printed.
DIALOGUES: dict[str, tuple[dict[int, int | None], str]] = {
    "31xq": ({0: 2, 1: 0, 2: None}, "3 decided now, 2 wait"),
    "l3q": ({1: 2}, "1 decided now, 4 wait"),
    "3u1q": ({0: 0}, "pair {first} waits again"),
    "3l3uu1q": ({0: 0, 2: REOPENED}, "1 decided now, 4 wait"),  # undo goes back over what was left for later
    "uq": ({}, "nothing to undo"),
    "XUQ": ({0: REOPENED}, "pair {first} waits again"),
    **{f"{key}q": ({}, "0 decided now") for key in ("2", "9", " ", "é", "\n")},  # which are no keys
    **{keys: ({0: 2} if keys else {}, f"{keys.count('3')} decided now") for keys in ("", "3", "3\x04")},
    "33333": (dict.fromkeys(range(5), 2), "5 decided now, 0 wait"),
}


@pytest.mark.parametrize("keys", DIALOGUES)
def test_each_key_decides_one_conflict_after_the_other_at_once(waiting: Study, fcpair: Fcpair, keys: str) -> None:
    pairs = waiting.grid().waiting_pairs()
    decided, message = DIALOGUES[keys]
    printed = fcpair("adjudicate", "--adjudicator", "ada", keys=keys).stdout
    assert message.format(first=pairs[0]) in printed
    kept = {pairs[place]: ("person", code) for place, code in decided.items() if code != REOPENED}
    reopened = {pairs[place]: ("reopened", None) for place, code in decided.items() if code == REOPENED}
    assert by_hand(waiting) == kept | reopened
    assert waiting.grid().waiting_pairs() == [pair for pair in pairs if pair not in kept]
    left = len(pairs) - len(kept)
    again = fcpair("adjudicate", "--adjudicator", "bo", keys="q").stdout
    assert (f"1 of {left}" if left else "no pair waits for a decision") in again


def test_a_conflict_is_shown_with_its_texts_and_labels_and_no_names(waiting: Study, fcpair: Fcpair) -> None:
    grid = waiting.grid()
    shown = grid.desk.conflict(grid.waiting_pairs()[0])
    printed = fcpair("adjudicate", "--adjudicator", "ada", keys="q").stdout
    assert shown.hs.body in printed
    assert shown.cn.body in printed
    assert all(answer.label in printed for answer in shown.answers)
    assert not any(name in printed for name in ANNOTATORS)


def test_a_daily_limit_ends_the_dialogue_and_undo_still_shows_what_was_read(waiting: Study, fcpair: Fcpair) -> None:
    grid = waiting.grid()
    terms.save_terms(waiting.grid(), Annotate(daily_limit=2))
    first, second, third, *_ = grid.waiting_pairs()
    result = fcpair("adjudicate", "--adjudicator", "ada", keys="3u113")
    assert by_hand(waiting) == {first: ("person", 0), second: ("person", 0)}
    assert "You have read 2 pairs today, as many as one person may read in a day." in result.stdout
    assert "2 decided now, 3 wait" in result.stdout
    with pytest.raises(LimitError, match="2 pairs today"):
        grid.decide(third, 2, by="ada")
    grid.decide(first, 2, by="ada")  # read already


def test_numbers_of_one_digit_are_their_own_keys_and_those_of_more_are_typed(tmp_path: Path, fcpair: Fcpair) -> None:
    (tmp_path / "typed").mkdir()
    study = rated(tmp_path, "scale(1,5,1,positive=4)", 1.0)
    first, second, *_ = study.grid().desk.agenda("ada").pairs
    printed = fcpair("adjudicate", "--adjudicator", "ada", "--study", study.place, keys="041q").stdout
    assert "[1] 1  [2] 2  [3] 3  [4] 4  [5] 5  [x] irreconcilable" in printed
    assert by_hand(study) == {first: ("person", 3), second: ("person", 0)}
    study = rated(tmp_path / "typed")
    keys = "4a9\n4,5\nairreconcilable\nq"  # 4 is no key here, and 9 is not on the scale
    first, second, *_ = study.grid().desk.agenda("ada").pairs
    result = fcpair("adjudicate", "--adjudicator", "ada", "--study", study.place, keys=keys)
    assert "[a] answer  [x] irreconcilable" in result.stdout
    assert "`9` is outside of the scale; expected 1 to 5 by 0.5, or `irreconcilable`" in result.output
    assert by_hand(study) == {first: ("person", 7), second: ("person", None)}


def test_a_note_goes_with_the_next_decision_on_the_pair_that_is_shown(at: At, fcpair: Fcpair) -> None:
    for keys, notes in {
        "nirony, نه\n33q": ["irony, نه", ""],
        "nhello\nl1q": [None, ""],  # going on to another pair drops it
        "3nhello\nu1q": ["", None],
        "nhello\nu1q": ["hello", None],  # there was nothing to undo
        "nirony\n3u1q": ["irony", None],  # undo brings it back
    }.items():
        grid = Study(at("decided")).grid()
        pairs = grid.waiting_pairs()[:2]
        printed = fcpair("adjudicate", "--adjudicator", "ada", keys=keys).stdout
        assert "(hello)" not in printed or notes == ["hello", None]
        decisions = [grid.explain(pair).decisions for pair in pairs]
        by_person = [made[-1]["note"] if made and made[-1]["rule"] == "person" else None for made in decisions]
        assert by_person == notes, keys
        if notes == ["hello", None]:
            assert printed.count(f"pair {pairs[0]} ·") == 2
            assert "\nnote: hello\n" in printed
    assert printed.count("\nnote: irony\n") == 2  # as it is typed, and after the undo
    made = [(row["rule"], row["note"]) for row in decisions[0] if row["rule"] in {"person", "reopened"}]
    assert made == [("person", "irony"), ("reopened", ""), ("person", "irony")]


def test_without_a_terminal_the_other_ways_are_named_and_nothing_is_decided(at: At) -> None:
    study = at("labelled")
    before = dump(study)
    command = [sys.executable, "-m", "fcpair", "adjudicate", "--study", str(study)]
    run = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, start_new_session=True
    )
    assert run.returncode == 2
    assert "no terminal to answer in; decide by --policy or --import FILE" in run.stderr
    assert dump(study) == before


def test_somebody_who_cannot_decide_leaves_the_study_as_it_was(at: At, fcpair: Fcpair) -> None:
    for stage in ("decided", "labelled"):
        study = at(stage)
        before = dump(study)
        for name in ("ana", "", "a,b"):
            refused = fcpair("adjudicate", "--adjudicator", name, keys="3q", code=2).stderr
            assert name != "ana" or "`ana` is annotator" in refused
            assert dump(study) == before


def test_the_first_dialogue_decides_what_is_unanimous_and_later_ones_change_no_policy(at: At, fcpair: Fcpair) -> None:
    study = Study(at("labelled"))
    held = fcpair("adjudicate", "--adjudicator", "ada", keys="q").stdout
    assert "9 stand by their only label; 8 stand unanimously" in held
    fcpair("adjudicate", "--policy", "majority")
    before = standing(study)
    assert "majority" in {rule for rule, _ in before.values()}
    fcpair("adjudicate", "--adjudicator", "ada", keys="q")
    assert standing(study) == before
    assert study.grid().policy == Adjudicate("majority")


def test_one_s_own_pairs_and_those_still_labelled_are_not_asked(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    study = Study(at("dealt"))
    three = [pair for pair, names in who_had(study).items() if len(names) == 3]
    labels = {"ana": "2", "ben": "0", "cleo": "2"}
    answers = [(who, pair, labels[who]) for who, pair in open_work(study) if (who, pair) != ("cleo", three[0])]
    record(study, tmp_path, answers)
    study.change_role("ana", Role.ADJUDICATOR)
    disputed = study.grid().waiting_pairs()
    own = {pair for pair in disputed if "ana" in who_had(study)[pair]} - {three[0]}
    printed = fcpair("adjudicate", "--adjudicator", "ana", keys="l" * len(disputed)).stdout
    assert "still being labelled: 1" in printed
    assert f"for others, because ana labelled or validates them: {len(own)}" in printed
    assert {int(number) for number in re.findall(r"pair (\d+) ·", printed)} == set(disputed) - own - {three[0]}
    printed = fcpair("adjudicate", "--adjudicator", "judy", keys="l" * len(disputed)).stdout
    assert {int(number) for number in re.findall(r"pair (\d+) ·", printed)} == set(disputed) - {three[0]}


def decide_in_a_file(study: Study, pair: int, folder: Path, by: str = "") -> None:
    study.grid().import_outcomes(write_csv(folder / "d.csv", [{"pair": pair, "label": "0", "adjudicator": by}]))


@pytest.mark.parametrize(
    ("decide", "who"),
    [
        (lambda study, pair, folder: study.grid().decide(pair, 0, by="bo"), "bo"),
        (lambda study, pair, folder: decide_in_a_file(study, pair, folder, "bo"), "bo (in a file)"),
        (lambda study, pair, folder: decide_in_a_file(study, pair, folder, "ada"), "ada (in a file)"),
        (decide_in_a_file, "a file"),
        (lambda study, pair, folder: study.grid().adjudicate(Adjudicate("majority", "discard")), "a rule"),
    ],
    ids=["person", "named", "oneself", "file", "rule"],
)
def test_a_decision_made_while_the_conflict_is_read_is_not_overridden_and_is_told_once(
    waiting: Study,
    fcpair: Fcpair,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    decide: Callable[[Study, int, Path], object],
    who: str,
) -> None:
    grid = waiting.grid()
    first, second, *rest = grid.waiting_pairs()
    keys = iter("n33q")

    def read() -> str:
        key = next(keys)
        if key == "n":
            decide(waiting, first, tmp_path)
        return key

    monkeypatch.setattr("fcpair.cli.adjudicate._read_key", read)
    printed = fcpair("adjudicate", "--adjudicator", "ada", keys="hello\n").stdout
    assert f"→ nothing was changed: pair {first} has been decided by {who} meanwhile\n" in printed
    assert printed.count(f"pair {first} has been decided") == 1
    if who == "a rule":  # it has discarded all that waited
        assert grid.waiting_pairs() == []
        return
    assert standing(waiting)[first][1] == 0
    assert standing(waiting)[second] == ("person", 2)
    assert grid.explain(second).decisions[-1]["note"] == ""
    assert grid.waiting_pairs() == rest


def test_labels_that_change_while_the_conflict_is_read_are_shown_before_it_is_decided(
    at: At, fcpair: Fcpair, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    study = Study(at("labelled"))
    grid = study.grid()
    pair = grid.waiting_pairs()[0]
    trio = sorted(ANNOTATORS)
    while len(names := sorted(labels_of(study, pair))) < 3:
        pair = next(other for other in grid.waiting_pairs() if other > pair)
    assert [who for _, who in names] == trio
    record(study, tmp_path, [(who, pair, label) for who, label in zip(trio, "220", strict=True)], supersede=True)
    keys = iter("l" * grid.waiting_pairs().index(pair) + "31q")

    def read() -> str:
        key = next(keys)
        if key == "3":
            record(study, tmp_path, [("ana", pair, "0")], supersede=True)
        return key

    monkeypatch.setattr("fcpair.cli.adjudicate._read_key", read)
    printed = fcpair("adjudicate", "--adjudicator", "ada").stdout
    assert f"nothing was changed: a label of pair {pair} has changed since it was shown" in printed
    assert by_hand(study) == {pair: ("person", 0)}


def test_what_was_decided_before_its_labels_changed_is_asked_again(
    waiting: Study, fcpair: Fcpair, tmp_path: Path
) -> None:
    grid = waiting.grid()
    first = grid.waiting_pairs()[0]
    fcpair("adjudicate", "--adjudicator", "ada", keys="3q")
    annotator, label = next((who, label) for (_, who), label in labels_of(waiting, first).items())
    record(waiting, tmp_path, [(annotator, first, "0" if label != "not_appropriate" else "1")], supersede=True)
    assert grid.second_looks() == [first]
    noted = "1 pair was decided before its labels changed and waits for a second look"
    assert noted in fcpair("status").stdout
    assert noted in fcpair("partition").stderr
    assert "It was decided before its labels changed" in fcpair("explain", str(first)).stdout
    printed = fcpair("adjudicate", "--adjudicator", "bo", keys="1uq").stdout
    assert f"→ the earlier decision on pair {first} applies again" in printed
    assert by_hand(waiting) == {first: ("person", 2)}  # undo leaves what somebody else had decided
    assert grid.second_looks() == [first]
    asked = "Its labels have changed since it was decided: appropriate. The same answer confirms it."
    assert asked in fcpair.line("adjudicate", "--adjudicator", "bo", keys="3q")
    assert grid.second_looks() == []
    for command in (("status",), ("partition",), ("explain", str(first))):
        assert "second look" not in fcpair(*command).output


@pytest.mark.slow
def test_results_say_which_decisions_are_older_than_their_labels(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    study = Study(at("checked"))
    grid = study.grid()
    pair = grid.waiting_pairs()[0]
    grid.decide(pair, 2, by="petra")
    (_, who), label = next(iter(labels_of(study, pair).items()))
    other = "not_appropriate" if label == "appropriate" else "appropriate"
    record(study, tmp_path, [(who, pair, other)], supersede=True)
    for command in (
        ("evaluate", "--system", "random"),
        ("export", "qrels", "--tier", "bronze", "--out", tmp_path / "q.txt"),
        ("partition", "--tier", "bronze", "--out", tmp_path / "b.csv"),
        ("report", "--out", tmp_path / "r.html"),
    ):
        note = "1 pair was decided before its labels changed and waits for a second look"
        assert note in fcpair(*command).stderr, command


def test_discarding_says_how_many_and_how_to_take_it_back(waiting: Study, fcpair: Fcpair) -> None:
    grid = waiting.grid()
    before = grid.waiting_pairs()
    result = fcpair("adjudicate", "--policy", "majority", "--ties", "discard")
    assert "5 pairs were discarded; `fcpair adjudicate --policy majority` undoes that" in result.stderr
    assert grid.waiting_pairs() == []
    fcpair("adjudicate", "--policy", "majority")
    assert grid.waiting_pairs() == before
    grid.decide(before[0], None, by="petra")
    printed = fcpair("explain", str(before[0])).stdout
    assert printed.startswith(f"pair {before[0]}: discarded")
    assert "adjudicated (person by petra): discarded" in printed
    assert "bronze   no, because it was discarded" in printed
    grid.take_back(before[0], by="petra")
    printed = fcpair("explain", str(before[0])).stdout
    assert printed.startswith(f"pair {before[0]}: in no tier")
    assert "adjudicated (reopened by petra): taken back" in printed


def test_pairs_of_a_file_go_to_adjudicators_and_get_more_labels(waiting: Study, fcpair: Fcpair, tmp_path: Path) -> None:
    grid = waiting.grid()
    before = grid.waiting_pairs()
    more = grid.find_pairs(state="decided", n=2).to_frame()["pair"].tolist()
    path = write_csv(tmp_path / "pairs.csv", [{"pair": pair} for pair in more])
    assert "would be: requested 2" in fcpair("adjudicate", "--request", path, "--dry-run").stdout
    assert "a person is to decide 2 pairs more" in fcpair("adjudicate", "--request", path).stdout
    assert "2 further labels were assigned" in fcpair("assign", "--more", "--pairs-file", path).stdout
    assert grid.waiting_pairs() == sorted([*before, *more])
    write_csv(path, [{"pair": "1"}, {"pair": "one"}, {"pair": "-3"}])
    refused = fcpair.refusal("adjudicate", "--request", path)
    assert "pairs.csv:3: `one` is not a pair; expected its number" in refused
    assert "pairs.csv:4: `-3` is not a pair; expected its number" in refused
    assert "give --pairs-file with --more alone" in fcpair.refusal("assign", "--pairs-file", path)


class Terminal:
    """A real terminal in which a command runs."""

    def __init__(self, *command: str) -> None:
        self._mine, self._theirs = pty.openpty()
        self.process = subprocess.Popen(
            command, stdin=self._theirs, stdout=self._theirs, stderr=self._theirs, start_new_session=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._mine)
        os.close(self._theirs)

    def read(self, words: str) -> str:
        """Read until the terminal shows these words."""
        shown = b""
        while words.encode() not in shown:
            assert select.select([self._mine], [], [], SECONDS)[0], shown.decode()
            shown += os.read(self._mine, 1024)
        return shown.decode()

    def press(self, key: str) -> None:
        """Press a key as soon as single keys are read: what is typed before that is thrown away."""
        until(lambda: not termios.tcgetattr(self._mine)[3] & termios.ICANON)
        os.write(self._mine, key.encode())


def test_a_real_terminal_is_read_key_by_key(waiting: Study) -> None:
    first = waiting.grid().waiting_pairs()[0]
    command = (sys.executable, "-m", "fcpair", "adjudicate", "--adjudicator", "ada", "--study", waiting.place)
    with Terminal(*command) as terminal:
        assert f"pair {first} · 1 of 5" in terminal.read("[q] quit")
        terminal.press("3")
        assert "2 of 5" in terminal.read("[q] quit")
        terminal.press("q")
        assert "1 decided now" in terminal.read("4 wait")
        assert terminal.process.wait(SECONDS) == 0
    assert by_hand(waiting) == {first: ("person", 2)}


def test_a_dry_run_opens_no_dialogue(waiting: Study, fcpair: Fcpair) -> None:
    before = dump(waiting)
    printed = fcpair("adjudicate", "--dry-run").stdout
    assert "would be: majority 2 · one label 9 · unanimous 8 · new 0 · reopened 0 · waiting 5" in printed
    printed = fcpair("adjudicate", "--policy", "manual", "--dry-run", code=1).stdout
    assert "would be: one label 9 · unanimous 8 · new 0 · reopened 2 · waiting 7" in printed
    assert dump(waiting) == before
