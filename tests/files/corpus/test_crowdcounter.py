"""CrowdCounter's release: all its files are read, no HS is lost, and what is wrong is named with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fcpair.errors import InputError
from fcpair.files.corpus.corpus import read_crowdcounter
from fcpair.files.tables.tabular import LINE, place_of

ANSWER = {
    **{"type_required": "humour", "worker_id": "w1", "counterspeech": "Tea first, verdicts later."},
    **{"additional_types": ["questions", "humour"], "label": "hatespeech/offensive", "weblink": "NA"},
}
HS = {"post": "Tea drinkers are late.", "id": 7, "counterspeech_post": {"w1": ANSWER}}


def written(folder: Path, content: Any) -> Path:
    path = folder / "release.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), "utf-8")
    return path


def findings(folder: Path, content: Any) -> list[tuple[int | None, str]]:
    with pytest.raises(InputError) as caught:
        read_crowdcounter(written(folder, content))
    return [(finding.line, finding.message) for finding in caught.value.findings]


def test_an_answer_has_its_hs_its_writer_and_each_type_once(tmp_path: Path) -> None:
    path = written(tmp_path, {"7": HS, "8": {**HS, "post": "They park badly.", "counterspeech_post": {}}})
    read = read_crowdcounter(path)
    assert read.answers.to_dict("records") == [
        {
            **{"hs_id": "7", "hs": "Tea drinkers are late.", "by": "w1", "type": "humour"},
            **{"additional": "questions,humour", "types": "humour,questions", "cn": "Tea first, verdicts later."},
            **{"label": "hatespeech/offensive", LINE: 6},
        }
    ]
    assert place_of(read.answers) == str(path)
    unanswered = read.unanswered[["hs_id", "hs", "cn"]]  # apart, with the same columns
    assert unanswered.to_dict("records") == [{"hs_id": "8", "hs": "They park badly.", "cn": ""}]
    assert list(read.unanswered.columns) == list(read.answers.columns)


def test_answers_without_their_hs_and_a_split_with_an_answer_a_line_are_read(tmp_path: Path) -> None:
    read = read_crowdcounter(written(tmp_path, {"7": {"w1": {**ANSWER, "gpt4-types": ["questions"]}}, "8": {}}))
    assert list(read.answers["gpt4"]) == ["questions"]
    assert "hs" not in read.answers.columns
    assert list(read.unanswered["hs_id"]) == ["8"]
    line = json.dumps(
        {
            **{"hatespeech": "They park badly.", "counterspeech": "Who?"},
            **{"required_types": "humour", "total_types": ["humour"]},
        }
    )
    answers = read_crowdcounter(written(tmp_path, f"{line}\n\n{line}\n")).answers
    assert list(answers.columns) == ["hs", "type", "types", "cn", LINE]
    assert list(answers[LINE]) == [1, 3]


def release_of(answer: Any) -> dict[str, Any]:
    """A release with one HS, which `w1` has answered so."""
    return {"7": {**HS, "counterspeech_post": {"w1": answer}}}


LINES = '{"hatespeech": "a", "counterspeech": "b"}'


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ('{\n"7": {},\n"7": {}\n}', 3, "duplicate key `7` in an object"),
        ('{"7": {"post": "a",\n"post": "b",\n"counterspeech_post": {}}}', 2, "duplicate key `post` in an object"),
        ('{"7": {"post": "a", "counterspeech_post": {\n"w1": {},\n"w1": {}}}}', 3, "duplicate key `w1` in an object"),
        (
            '{"7": {"post": "a", "counterspeech_post": {"w1": {\n"label": "x",\n"label": "y"}}}}',
            3,
            "duplicate key `label` in an object",
        ),
        (f'{LINES}\n{LINES[:-1]}, "hatespeech": "c"}}', 2, "duplicate key `hatespeech` in an object"),
        (release_of({**ANSWER, "counterspeech": " "}), 6, "`w1`: `counterspeech` is empty"),
        (release_of({**ANSWER, "counterspeech": None}), 6, "`w1`: no text `counterspeech`"),
        ({"7": {"post": "They park badly."}}, 2, "HS `7`: no `counterspeech_post`"),
        ({"7": {"counterspeech_post": {}}}, 2, "HS `7`: no text `post`"),
        ({"7": {**HS, "counterspeech_post": ["w1"]}}, 5, "expected an object, found ["),
        (release_of("Who?"), 6, 'expected an object, found "Who?"'),
        ({"7": {**HS, "post": "half \ud800"}}, 6, "half a surrogate pair"),
        ([HS], 1, "expected an object, found ["),
        ('{"7": }', 1, "not JSON"),
        ('{"7": {}}\n{"8": {}}', 2, "more than one value"),
        (f"{LINES} {{}}", 1, "more than one value in a line"),
        (f'{LINES}\n{{"hatespeech": "a"}}', 2, "no text `counterspeech`"),
        (f'{LINES}\n{{"hatespeech" 1}}', 2, "not JSON"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, content: Any, line: int, message: str) -> None:
    found = findings(tmp_path, content)
    assert [at for at, text in found if message in text] == [line], found


def test_a_release_without_hs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no HS"):
        read_crowdcounter(written(tmp_path, "{}"))


# -- the release


def test_all_answers_and_all_hs_of_the_release_are_there(data: Path) -> None:
    read = read_crowdcounter(data / "crowdcounter" / "Final_Dataset.json")
    both = [*read.answers["hs_id"], *read.unanswered["hs_id"]]
    assert (len(read.answers), len(read.unanswered), len(set(both))) == (3435, 53, 1325)
    text = (data / "crowdcounter" / "Final_Dataset.json").read_text("utf-8").split("\n")
    placed = zip(read.answers["by"], read.answers[LINE], strict=True)
    assert all(f'"{who}": {{' in text[line - 1] for who, line in placed)


@pytest.mark.parametrize(
    ("name", "n", "column"),
    [
        ("Final_Dataset_additional_context", 3435, "targets"),
        ("Final_Dataset_additional_context_gpt4", 3435, "gpt4"),
        ("Train", 2047, "types"),
        ("Val", 100, "types"),
        ("Test", 1288, "types"),
        ("Gab/Test", 1474, "hs"),
        ("Gab/Val", 100, "hs"),
        ("Reddit/Test", 1384, "hs"),
        ("Reddit/Val", 100, "hs"),
    ],
)
def test_every_other_file_of_the_release_is_read(data: Path, name: str, n: int, column: str) -> None:
    answers = read_crowdcounter(data / "crowdcounter" / f"{name}.json").answers
    assert len(answers) == n
    assert answers[column].str.strip().ne("").any()
