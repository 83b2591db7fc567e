"""People on the command line: they come, change and go; invite links for one, several, everybody; volunteers."""

from __future__ import annotations

import stat
from pathlib import Path

from cli.conftest import At, Fcpair, rows_of
from fcpair.study import Study


def name_of(study: Path, link: str) -> str | None:
    visitor = Study(study).access.by_token(link.strip().partition("#")[2])
    return visitor.name if visitor else None


def invite(fcpair: Fcpair, *words: str) -> dict[str, str]:
    """The links that are printed, by name."""
    return dict(line.split(": ", 1) for line in fcpair("people", "invite", *words).stdout.splitlines())


def test_people_come_change_and_go(at: At, fcpair: Fcpair) -> None:
    study = Study(at("dealt"))
    first, *links = fcpair("people", "add", "dora", "emil").stdout.splitlines()
    assert first == "added as annotator: dora, emil"
    assert [link.partition("#")[0] for link in links] == [
        f"{name}: http://127.0.0.1:8000/join" for name in ("dora", "emil")
    ]
    assert "; 14 went to others" in fcpair("people", "handover", "ana", "--to", "dora").stdout
    assert fcpair("people", "role", "ana", "validator").stdout == "ana is validator now\n"
    assert "14 open assignments were taken back" in fcpair("people", "retire", "ben", "--seed", "3").stdout
    assert [(row["name"], row["role"], row["retired"]) for row in fcpair.csv("people", "list")][:2] == [
        ("ana", "validator", "False"),
        ("ben", "annotator", "True"),
    ]
    study.access.consent(study.people[0].id, {"Age": "30-49"})
    terms, *_ = fcpair.csv("people", "terms")
    assert (terms["name"], terms["demographics"]) == ("ana", '{"Age": "30-49"}')
    assert "what ana said about themselves is deleted" in fcpair("people", "forget", "ana").stdout
    assert "'model' is not one of" in fcpair.refusal("people", "add", "m", "--role", "model")


def test_links_are_printed_by_name_with_the_address_that_is_given(at: At, fcpair: Fcpair) -> None:
    study = at("dealt")
    links = invite(fcpair, "ana", "ben", "--url", "https://labels.example.org/")
    assert all(link.startswith("https://labels.example.org/join#") for link in links.values())
    assert {name: name_of(study, link) for name, link in links.items()} == {"ana": "ana", "ben": "ben"}
    assert "ana can no longer sign in" in fcpair("people", "revoke", "ana").stdout


def test_all_are_those_who_have_no_link_and_take_part(at: At, fcpair: Fcpair) -> None:
    at("paired")
    assert "nobody takes part yet; `fcpair people add NAME`" in fcpair.refusal("people", "invite", "--all")
    study = at("dealt")
    first = invite(fcpair, "ana")["ana"]
    fcpair("people", "retire", "cleo")
    assert list(invite(fcpair, "--all")) == ["ben"]
    assert "everybody has an invite link" in fcpair.refusal("people", "invite", "--all")
    for words in ((), ("ana", "--all")):
        assert "give names, or --all" in fcpair.refusal("people", "invite", *words)
    assert "nobody called `zoe`" in fcpair.refusal("people", "invite", "ana", "zoe")
    assert name_of(study, first) == "ana"


def test_links_go_to_a_file_that_nobody_else_can_read(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    study, out = at("dealt"), tmp_path / "links.csv"
    fcpair("people", "add", "=cmd|y", "--role", "validator")
    fcpair("people", "invite", "=cmd|y", "--out", out)
    assert out.read_text("utf-8").startswith("name,link\n'=cmd|y,http")  # no formula
    link = invite(fcpair, "ana")["ana"]
    out.write_text("somebody's links", "utf-8")
    assert "exists already" in fcpair.refusal("people", "invite", "ana", "ben", "--out", out)
    assert out.read_text("utf-8") == "somebody's links"
    assert name_of(study, link) == "ana"
    at("dealt")
    out.unlink()
    printed = fcpair("people", "invite", "--all", "--out", out).output
    assert "3 links" in printed
    assert "join#" not in printed
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    rows = rows_of(out)
    assert [(row["name"], name_of(study, row["link"])) for row in rows] == [
        (who, who) for who in ("ana", "ben", "cleo")
    ]
    assert rows[0]["link"].partition("#")[2].encode() not in study.read_bytes()


def test_who_joins_late_is_told_of_the_share_that_is_theirs(at: At, fcpair: Fcpair) -> None:
    for stage, is_late in (("dealt", True), ("paired", False)):
        at(stage)
        message = fcpair("people", "add", "dora", "--role", "annotator").stderr
        assert ("`fcpair assign --more` gives dora an even share" in message) == is_late


def test_the_road_of_volunteers_on_the_command_line(at: At, fcpair: Fcpair) -> None:
    at("paired")
    assert fcpair("assign", "--open", "--overlap", "2:0.25").stdout == (
        "assign: 30 labels are open to anybody who asks first, of 0 annotators now; 18 pairs have 1 label; "
        "6 pairs have 2 labels\n"
    )
    assert "pairs are handed out on request in the browser, to dora too" in fcpair("people", "add", "dora").stderr
    assert "\n  label        30      0         0           0        0     30\n" in fcpair("status").stdout
    assert "so there are no sheets" in fcpair.refusal("labels", "sheets", "sheets")
    assert "of 0 annotators" not in fcpair("assign", "--more", "--overlap", "2:0.5").stdout
    ended = "open assignment was ended: 36 labels that nobody had were removed"
    assert fcpair("assign", "--close").stdout == f"assign: {ended}\n"
    assert "has no open assignment" in fcpair.refusal("assign", "--close")
    assert "give --close alone" in fcpair.refusal("assign", "--close", "--redo")
