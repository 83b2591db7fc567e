"""`fcpair note` at the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from cli.conftest import Fcpair

At = Callable[[str], Path]


def test_a_note_is_added_and_stands_in_the_log(at: At, fcpair: Fcpair) -> None:
    at("dealt")
    added = fcpair("note", "Two annotators talked.", "--pair", "5").stdout
    assert added == "note: a note about pair 5 was added to the log\n"
    logged = " ".join(fcpair("log").stdout.split())
    assert "parameters: text Two annotators talked. · pair 5 a note about pair 5 was added to the log" in logged
    assert json.loads(fcpair("log", "--format", "json").stdout)[-1]["params"]["text"] == "Two annotators talked."


def test_a_note_about_no_pair_of_the_grid_is_refused(at: At, fcpair: Fcpair) -> None:
    at("dealt")
    refused = fcpair("note", "Two annotators talked.", "--pair", "999", code=2).stderr
    assert refused == "Error: there is no pair 999; the pairs of the grid are numbered from 1 to 24\n"
    assert "the note is empty" in fcpair("note", "", code=2).stderr
