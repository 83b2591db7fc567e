"""Models as a plan names them, and which columns each of them answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from fcpair.errors import InputError
from fcpair.stages.answers.model_spec import ModelSpec, match_columns, parse_model_spec


@pytest.mark.parametrize(
    "text",
    [
        "careful=service:llama3.2:3b",
        "plain=canned:folder/plain replies.csv",
        "small=local:google/flan-t5-small",
        "plain=canned:released.csv(row=HS,reply=CN,several=first)",
        "plain=canned:released (1).csv",
        "small=local:models (old)/t5(max_new_tokens=80,num_beams=4)",
    ],
)
def test_a_model_is_read_as_it_is_written(text: str) -> None:
    assert str(parse_model_spec(text)) == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("careful", "cannot be read; expected NAME=service:MODEL"),
        ("careful=service:", "cannot be read"),
        ("=service:x", "cannot be read"),
        ("careful=servce:x", "did you mean `service`"),
        (f"{'x' * 200}=service:x", "longer than"),
        ("small=local:t5(num_beam=2)", "did you mean `num_beams`"),
        ("plain=canned:a.csv(rows=HS)", "did you mean `row`"),
        ("plain=canned:a.csv(several=last)", "`several=last`; expected `several=first`"),
        ("plain=canned:a.csv(row=)", "`row=`; expected a value, once"),
        ("small=local:t5(num_beams=0)", "expected a whole number, 1 or more"),
        ("small=local:t5(num_beams=2,num_beams=3)", "`num_beams=3`; expected a value, once"),
    ],
)
def test_what_is_no_model_is_refused(text: str, found: str) -> None:
    with pytest.raises(InputError, match=found):
        parse_model_spec(text)


def test_only_files_are_looked_for_in_a_folder() -> None:
    assert parse_model_spec("a=canned:b.csv").resolve_in(Path("/f")).of == "/f/b.csv"
    assert parse_model_spec("a=canned:/g/b.csv").resolve_in(Path("/f")).of == "/g/b.csv"
    assert parse_model_spec("a=service:b").resolve_in(Path("/f")).of == "b"


def test_a_local_model_is_a_folder_where_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "t5").mkdir()
    assert parse_model_spec("a=local:t5(num_beams=2)").resolve_in(tmp_path).of == str(tmp_path / "t5")
    assert parse_model_spec("a=local:google/t5").resolve_in(tmp_path).of == "google/t5"


def test_who_answers_which_column() -> None:
    ann, bob, cy = (ModelSpec(name, "service", "m") for name in ("ann", "bob", "cy"))
    assert match_columns(["bob", "ann"], [ann, bob]) == [(0, 1), (1, 0)]
    assert match_columns(["heard", "believed"], [ann, bob]) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert match_columns(["ann", "other"], [ann, cy]) == [(0, 0), (1, 1)]
    with pytest.raises(InputError, match="no model answers the column `other`"):
        match_columns(["ann", "other"], [ann])
