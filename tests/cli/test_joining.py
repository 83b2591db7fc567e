"""Joining on the command line: invite links for one, several, everybody; what is said to whoever comes late."""

from __future__ import annotations

import csv
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Fcpair
from fcpair.study import Study

At = Callable[[str], Path]


def name_of(study: Path, link: str) -> str | None:
    """Whom a link lets in."""
    visitor = Study(study).access.by_token(link.partition("#")[2])
    return visitor.name if visitor else None


def links_of(output: str) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in output.splitlines())


def test_several_people_are_invited_at_once(at: At, fcpair: Fcpair) -> None:
    study = at("dealt")
    links = links_of(fcpair("people", "invite", "ana", "ben").stdout)
    assert {name: name_of(study, link) for name, link in links.items()} == {"ana": "ana", "ben": "ben"}


def test_all_are_those_who_have_no_link_and_take_part(at: At, fcpair: Fcpair) -> None:
    study = at("dealt")
    first = links_of(fcpair("people", "invite", "ana").stdout)["ana"]
    fcpair("people", "retire", "cleo")
    assert list(links_of(fcpair("people", "invite", "--all").stdout)) == ["ben"]
    assert name_of(study, first) == "ana"
    assert "everybody has an invite link" in fcpair("people", "invite", "--all", code=2).stderr


def test_links_go_to_a_file_that_nobody_else_can_read_and_not_to_the_terminal(
    at: At, fcpair: Fcpair, tmp_path: Path
) -> None:
    study, out = at("dealt"), tmp_path / "links.csv"
    said = fcpair("people", "invite", "--all", "--out", out).output
    assert "3 links" in said
    assert "join#" not in said
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == ["ana", "ben", "cleo"]
    assert [name_of(study, row["link"]) for row in rows] == ["ana", "ben", "cleo"]
    assert rows[0]["link"].partition("#")[2].encode() not in study.read_bytes()


def test_no_name_is_a_formula_in_the_file_of_links(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("dealt")
    fcpair("people", "add", "=cmd|y", "--role", "validator")
    fcpair("people", "invite", "=cmd|y", "--out", tmp_path / "links.csv")
    assert (tmp_path / "links.csv").read_text("utf-8").startswith("name,link\n'=cmd|y,http")


def test_a_file_that_is_there_is_kept_and_so_are_the_links_before(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    study, out = at("dealt"), tmp_path / "links.csv"
    link = links_of(fcpair("people", "invite", "ana").stdout)["ana"]
    out.write_text("somebody's links", "utf-8")
    assert "exists already" in fcpair("people", "invite", "ana", "ben", "--out", out, code=2).stderr
    assert out.read_text("utf-8") == "somebody's links"
    assert name_of(study, link) == "ana"


def test_one_unknown_name_invites_nobody(at: At, fcpair: Fcpair) -> None:
    study = at("dealt")
    link = links_of(fcpair("people", "invite", "ana").stdout)["ana"]
    assert "nobody called `zoe`" in fcpair("people", "invite", "ana", "zoe", code=2).stderr
    assert name_of(study, link) == "ana"


@pytest.mark.parametrize("given", [(), ("ana", "--all")])
def test_names_or_all(at: At, fcpair: Fcpair, given: tuple[str, ...]) -> None:
    at("dealt")
    assert "give names, or --all" in fcpair("people", "invite", *given, code=2).stderr


def test_the_hint_for_verdicts_without_a_taker_names_the_role_that_helps(at: At, fcpair: Fcpair) -> None:
    grid = Study(at("checking")).grid()
    for pair in grid.waiting_pairs():
        grid.decide(pair, 2, by="petra")
    fcpair("people", "retire", "vera")
    fcpair("people", "retire", "walt")
    assert "fcpair people add NAME --role validator" in fcpair("status").stdout


@pytest.mark.parametrize(("stage", "role", "told"), [("dealt", "annotator", True), ("paired", "annotator", False)])
def test_who_joins_late_is_told_of_the_share_that_is_theirs(
    at: At, fcpair: Fcpair, stage: str, role: str, told: bool
) -> None:
    at(stage)
    said = fcpair("people", "add", "dora", "--role", role).stderr
    assert ("`fcpair assign --more` gives dora an even share" in said) == told


def test_inviting_all_of_nobody_says_how_people_are_added(at: At, fcpair: Fcpair) -> None:
    at("paired")
    assert "nobody takes part yet; `fcpair people add NAME`" in fcpair("people", "invite", "--all", code=2).stderr


def test_the_road_of_volunteers_on_the_command_line(at: At, fcpair: Fcpair) -> None:
    at("paired")
    assert fcpair("assign", "--open", "--overlap", "2:0.25").stdout == (
        "assign: 30 labels are open to anybody who asks first, of 0 annotators now; 18 pairs have 1 label; "
        "6 pairs have 2 labels\n"
    )
    assert "pairs are handed out on request in the browser, to dora too" in fcpair("people", "add", "dora").stderr
    assert "\n  label        30      0         0           0        0     30\n" in fcpair("status").stdout
    assert "so there are no sheets" in fcpair("labels", "sheets", "sheets", code=2).stderr
    assert "of 0 annotators" not in fcpair("assign", "--more", "--overlap", "2:0.5").stdout
    ended = "open assignment was ended: 36 labels that nobody had were removed"
    assert fcpair("assign", "--close").stdout == f"assign: {ended}\n"
    assert "has no open assignment" in fcpair("assign", "--close", code=2).stderr
    assert "give --close alone" in fcpair("assign", "--close", "--redo", code=2).stderr
