"""Nothing in a release follows people: the same story under other names, in another order, gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from fcpair.params import Adjudicate, Annotate, Assign, Setup, Validate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.steps.publication import release_folder, release_tables
from fcpair.study import Study
from steps.publication.releasing import bytes_of, full_form
from steps.small import build_to, check, label_of, record, write_csv

PEOPLE = ("ana", "ben", "cleo", "dora", "judge", "vera")
"""Whose story is told: three who label, one who is dismissed, one who decides, and one who validates."""
OTHER = dict(zip(PEOPLE, ("zeno", "xeni", "yuri", "abel", "wim", "carl"), strict=True))
"""The same six under names that are in another order."""
DRAWN = ("study", "pseudonyms", "last_run", "digests")  # of release.json: drawn from the secret of a study


def draw_as(names: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the pseudonym of each follow who it is in the story, as if it had been drawn so."""
    fresh = {name: f"p{at:010x}" for at, name in enumerate(names.values(), 11)}
    original = release_tables.Pseudonyms.__init__

    def init(self: Any, *args: Any) -> None:
        original(self, *args)
        name_by_fresh = {drawn: name for name, drawn in self.by_name.items()}
        self.by_name = fresh
        self.by_id = {person: fresh.get(name_by_fresh.get(own, ""), own) for person, own in self.by_id.items()}

    monkeypatch.setattr(release_tables.Pseudonyms, "__init__", init)


def tell(folder: Path, names: Mapping[str, str], arrivals: Sequence[Sequence[str]]) -> Study:
    """A study in which everybody labels every pair; people come in the order of `arrivals`, each call its own."""
    folder.mkdir()
    study = build_to("paired", Study.create(folder / "study.db", Setup(title="Small")), folder)
    grid = study.grid()
    roles = {"judge": Role.ADJUDICATOR, "vera": Role.VALIDATOR}
    study.save_terms(Annotate(demographics=("Age: young | old", "Place: here | there")))
    for call in arrivals:
        study.add_people([names[who] for who in call], roles.get(call[0], Role.ANNOTATOR))
    ids = {person.name: person.id for person in study.people}
    for who, said in (("ana", {"Place": "here"}), ("ben", {"Age": "old"})):
        study.access.consent(ids[names[who]], said, "yes")
    labellers = sorted(names[who] for who in ("ana", "ben", "cleo"))
    study.dismiss(names["dora"], reason="Thank you.")
    grid.assign(Assign(overlap={3: 1.0}, annotator_groups=(tuple(labellers),)))
    who_is = {name: who for who, name in names.items()}
    for name in labellers:  # as `fcpair labels import *.csv` would
        n_left = 4 if who_is[name] == "ben" else 0
        record(study, folder, [(name, pair, label_of(pair, who_is[name])) for pair in range(1, 25 - n_left)])
        grid.adjudicate(Adjudicate("majority"))
        study.access.invite(name)
    grid.decide(grid.waiting_pairs()[0], 2, by=names["judge"])
    grid.assign_validation(Validate())
    check(study, folder, [(names["vera"], pair, "agree") for pair in range(1, 10)])
    return study


def released(study: Study, folder: Path, names: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Every byte of a release, but for what is drawn from the study's secret."""
    with monkeypatch.context() as patch:
        draw_as(names, patch)
        study.release("v1", folder / "v1", full_form(folder))
    content = bytes_of(folder / "v1")
    record = json.loads(content["release.json"])
    content["release.json"] = json.dumps({key: record[key] for key in record if key not in DRAWN}).encode()
    sums = content["SHA256SUMS"].splitlines()
    content["SHA256SUMS"] = b"\n".join(line for line in sums if b"release.json" not in line)
    return content


def test_other_names_and_another_order_of_people_give_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = dict(zip(PEOPLE, PEOPLE, strict=True))
    one_by_one = tell(tmp_path / "a", own, [[who] for who in PEOPLE])
    backwards = tell(tmp_path / "b", OTHER, [["vera"], ["judge"], ["dora", "cleo", "ben", "ana"]])
    first = released(one_by_one, tmp_path / "a", own, monkeypatch)
    second = released(backwards, tmp_path / "b", OTHER, monkeypatch)
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def write_and_label(folder: Path, names: Mapping[str, str]) -> Study:
    """Two people write on the same three rows and send their sheets in the order of names; one labels the texts."""
    folder.mkdir()
    write = RoundPlan("write", "text: text()", "writer", answers=2)
    fit = RoundPlan("fit", "fit: one_of(no,yes+)")
    plans = [
        GridPlan("replies", SidePlan(names=("One.", "Two.", "Three.")), SidePlan(names=("reply",)), (write,)),
        GridPlan("judged", SidePlan(answers="replies"), SidePlan(names=("good",)), (fit,)),
    ]
    study = Study.create(folder / "study.db", grids=plans)
    study.add_people(sorted(names[who] for who in ("ana", "ben")), Role.WRITER)
    study.add_people([names["judge"]], Role.ANNOTATOR)
    replies, judged = study.grid("replies"), study.grid("judged")
    replies.pair()
    replies.assign_round("write")
    for name, who in sorted((names[who], who) for who in ("ana", "ben")):
        rows = [{"cell": cell, "by": name, "text": f"{who} says {cell}"} for cell in (1, 2, 3)]
        replies.import_answers(write_csv(folder / f"{name}.csv", rows), "write")
    judged.pair()
    judged.assign_round("fit")
    rows = [
        {"cell": at, "by": names["judge"], "fit": "yes" if text.startswith("ana") else "no"}
        for at, text in enumerate(judged.rows()["row"], 1)
    ]
    judged.import_answers(write_csv(folder / "fit.csv", rows), "fit")
    return study


def test_the_order_of_written_texts_does_not_tell_who_wrote_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = dict(zip(PEOPLE, PEOPLE, strict=True))
    first = released(write_and_label(tmp_path / "a", own), tmp_path / "a", own, monkeypatch)
    second = released(write_and_label(tmp_path / "b", OTHER), tmp_path / "b", OTHER, monkeypatch)
    assert b"ana says 1" in first["data/judged-rows.csv"]
    assert len(first["data/judged-labels.csv"].splitlines()) == 1 + 6
    assert [name for name in first if first[name] != second[name]] == []


def test_the_last_digits_of_a_figure_do_not_tell_in_which_order_people_were_summed_up() -> None:
    row = dict.fromkeys(release_folder.AGREEMENT_COLUMNS, "")
    forward, backward = (sum(kappas) for kappas in ((0.1, 0.2, 0.3), (0.3, 0.2, 0.1)))
    assert forward != backward
    written = {release_folder._agreement_csv([{**row, "value": value}]) for value in (forward, backward)}
    assert len(written) == 1
    assert ",0.6," in written.pop()
