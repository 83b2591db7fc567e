"""A release: the same study gives the same bytes, it says nothing that is not public, and it can be checked."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fcpair.errors import InputError, StageError
from fcpair.files.tables.folders import SUMS
from fcpair.params import Adjudicate, Annotate, Assign, Partition, Setup, Validate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import TIERS, Role
from fcpair.steps import release_folder, release_tables
from fcpair.steps.base.context import note_run
from fcpair.store.oversight import runs
from fcpair.study import Study
from steps.calibrated import calibrated
from steps.releasing import bytes_of, full_form, pairs_of
from steps.small import (
    ANNOTATORS,
    CNS,
    HS,
    VALIDATORS,
    At,
    assert_refused,
    build_to,
    check,
    label_of,
    open_work,
    record,
    write_csv,
)

OWN_TIERS = {
    "my-strict": {"labels": 3, "within": "gold"},
    "yes_only": {"answers": ["appropriate"], "verdict": "none"},
}  # neither is within the other
CONTACT = "Dr Lee, 555 0100, lee@clinic.example"


def tier_without_names(rows: pd.DataFrame) -> pd.DataFrame:
    """A tier with its annotators' columns in an order that does not depend on their names."""
    labels = [name for name in rows.columns if name.startswith("label.")]
    values = sorted(rows[labels].to_numpy().T.tolist())
    return rows.drop(columns=labels).assign(labels=[str(row) for row in zip(*values, strict=True)])


def log_of(release: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (release / "runs.jsonl").read_text("utf-8").splitlines()]


def test_the_same_study_gives_the_same_bytes_at_any_time_and_place_and_the_same_seed_keeps_pseudonyms(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, form = at("checked"), full_form(tmp_path)
    first = study.release("v1", tmp_path / "a", form)
    monkeypatch.setattr(runs, "now", lambda: "2031-01-01T00:00:00+00:00")
    (tmp_path / "other place").mkdir()
    second = study.release("v1", tmp_path / "other place" / "b", form)
    assert first.counts["digest"] == second.counts["digest"]
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "other place" / "b")

    study.release("v2", tmp_path / "v2", form)
    lines = log_of(tmp_path / "v2")
    assert [line["stage"] for line in lines] == [
        run.stage for run in study.log() if run.stage not in ("people", "release")
    ]
    assert {len(line["day"]) for line in lines} == {10}
    paths = {None, "corpus.csv", "some-labels.csv", "some-verdicts.csv"}
    assert {line["params"].get("path") for line in lines} == paths

    study.add_people(["zoe"], Role.ANNOTATOR)
    study.release("v3", tmp_path / "v3", form)
    study.release("v4", tmp_path / "v4", form, seed=1)
    names = [set(pd.read_parquet(tmp_path / name / "data/labels.parquet")["annotator"]) for name in ("a", "v3", "v4")]
    assert names[0] == names[1]
    assert names[0].isdisjoint(names[2])


def test_tables_and_documents_are_what_the_study_says_but_for_the_names_of_people(at: At, tmp_path: Path) -> None:
    study, folder = at("checked"), tmp_path / "v1"
    grid = study.grid()
    study.add_people(["judge"], Role.ADJUDICATOR)
    grid.decide(grid.waiting_pairs()[0], 2, by="judge")
    run = study.release("v1", folder, full_form(tmp_path))
    with study._store.read() as tx:
        kept = {noted["tier"]: noted for noted in runs.releases(tx)}
    assert set(kept) == set(TIERS)
    assert kept["gold"]["path"] == str(folder / "data/gold.parquet")
    assert study.log()[-1].stage == run.stage == "release"
    assert not Study.doctor(study.place).checks[-1].found
    assert tomllib.loads((folder / "recipe.toml").read_text())["import"]["path"] == "corpus.csv"

    for tier in TIERS:
        grid.release(tier, tmp_path / f"{tier}.parquet")
        expected, released = (
            pd.read_parquet(place) for place in (tmp_path / f"{tier}.parquet", folder / f"data/{tier}.parquet")
        )
        pd.testing.assert_frame_equal(tier_without_names(released), tier_without_names(expected))
    labels = pd.read_parquet(folder / "data/labels.parquet")
    by_person = [
        {tuple(sorted(zip(rows["pair"], rows["label"], strict=True))) for _, rows in frame.groupby("annotator")}
        for frame in (labels, grid.labels())
    ]
    assert by_person[0] == by_person[1]
    assert set(labels["annotator"]).isdisjoint(ANNOTATORS)

    status = study.status()
    counts = [
        f"- round {name}: answers {counts['done']}, skipped {counts['skipped']}"
        for name, counts in status["rounds"].items()
    ]
    rules = {rule: n for rule, n in status["adjudications"].items() if n and rule not in ("waiting", "second_look")}
    counts.append("- decisions: " + ", ".join(f"{rule.replace('_', ' ')} {rules[rule]}" for rule in sorted(rules)))
    for document in ("datasheet.md", "data-statement.md"):
        text = (folder / document).read_text("utf-8")
        assert [line for line in text.splitlines() if line.startswith(("- round", "- decisions"))] == counts
        assert "- label import" not in text


def test_nothing_private_is_in_any_byte_and_no_act_on_single_people_in_the_log(at: At, tmp_path: Path) -> None:
    study, note = at("checked"), "a private note"
    study.save_terms(contact=CONTACT)
    study.add_people(["quokka-seven"], Role.ADJUDICATOR)
    token = study.access.invite("quokka-seven")
    study.grid().decide(study.grid().waiting_pairs()[0], 2, by="quokka-seven", note=note)
    for name in ("zoe", "yan"):
        study.add_people([name], Role.ANNOTATOR)
        study.access.invite(name)
    with study._store.write() as tx:
        note_run(tx, "people", {"let_on": "ben", "grid": "main"}, {"people": 1})
        secret = runs.secret(tx)
    for name in ("zoe", "ben"):
        study.dismiss(name, reason="Thank you, but no.")
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    private = [*("quokka-seven", token, note, secret, str(tmp_path), "Dr Lee", "555 0100", "clinic", "but no.")]
    for name, content in bytes_of(tmp_path / "v1").items():
        assert not [text for text in (*private, *VALIDATORS, "cleo") if text.encode() in content], name
    lines = log_of(tmp_path / "v1")
    assert {"people", "dismiss"} < {run.stage for run in study.log()}
    assert not {"people", "dismiss"} & {line["stage"] for line in lines}
    assert [line["run"] for line in lines] == [*range(1, len(lines) + 1)]


def test_words_of_the_study_stay_and_tell_nobody_who_is_called_by_one(at: At, tmp_path: Path) -> None:
    study = at("checked")
    study.add_people(["v2", "label", "majority", "agree", "not_appropriate", "silver"], Role.VALIDATOR)
    with study._store.write() as tx:
        note_run(tx, "retrieve", {"model": "all-MiniLM-L6-v2"}, {}, {"name": "all-MiniLM-L6-v2"})
    study.grid().adjudicate(policy="majority")
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    *_, retrieval, adjudication = log_of(tmp_path / "v1")
    assert retrieval["params"]["model"] == retrieval["model"]["name"] == "all-MiniLM-L6-v2"
    assert '"v2"' not in (tmp_path / "v1/runs.jsonl").read_text()
    assert adjudication["params"]["policy"] == "majority"
    assert "majority" in adjudication["counts"]
    assert set(pd.read_csv(tmp_path / "v1/agreement.csv")["round"]) == {"label"}


def test_the_log_has_one_line_for_all_answers_of_a_round(at: At, tmp_path: Path) -> None:
    """Of 24 pairs six have two labels and six three: 12 + 12 + 18 = 42, which three people sent, 14 each."""
    study = at("dealt")
    for name in ANNOTATORS:
        record(study, tmp_path, [(who, pair, label_of(pair, who)) for who, pair in open_work(study) if who == name])
        study.grid().adjudicate(policy="majority")
    assert [run.counts["answers"] for run in study.log() if run.stage == "label import"] == [14, 14, 14]
    study.release("v1", tmp_path / "v1", full_form(tmp_path), draft=True)
    lines = log_of(tmp_path / "v1")
    assert [line["counts"] for line in lines if line["stage"] == "label import"] == [
        {"answers": 42, "skips": 0, "already_there": 0}
    ]
    assert [line["stage"] for line in lines].count("adjudicate") == 1


def test_without_texts_there_are_digests_and_a_script(at: At, tmp_path: Path) -> None:
    at("checked").release("v1", tmp_path / "v1", full_form(tmp_path), texts=False)
    for name, content in bytes_of(tmp_path / "v1").items():
        assert not [text for text in (*HS, *CNS) if text.encode() in content], name
    rows = pd.read_parquet(tmp_path / "v1/data/gold.parquet")
    assert {"hs_sha256", "cn_sha256"} <= set(rows.columns)
    assert not [name for name in rows.columns if name.startswith(("hs.", "cn."))]
    assert (tmp_path / "v1/join_texts.py").is_file()


def test_a_study_without_a_pair_in_a_tier_is_released_as_a_draft_alone(at: At, tmp_path: Path) -> None:
    study, form, folder = at("decided"), full_form(tmp_path), tmp_path / "v1"
    for texts in (True, False):
        release = partial(study.release, "v1", folder, form, texts=texts)
        assert_refused(study, release, StageError, "no pair is in any tier yet, so the release would hold no texts")
    run = study.release("v1", folder, form, draft=True)
    assert "a release of 3 tables was written; no pair is in any tier, so it holds no texts" in run.told
    assert study.verify(folder, study).is_sound


def test_what_cannot_be_released_leaves_no_folder_and_no_note(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, form, folder = at("dealt"), full_form(tmp_path), tmp_path / "v1"
    release = partial(study.release, "v1", folder, form)
    assert_refused(study, release, StageError, "needs labels or answers first")
    study = at("checked")
    release = partial(study.release, "v1", folder, form)
    for name in ("", "a b", "../v1", "v/1", "-v", "x" * 200):
        assert_refused(
            study, partial(study.release, name, folder, form), InputError, "a release needs a name, such as v1"
        )
    lacking = tmp_path / "release.toml"
    lacking.write_text('title = "T"\n[licence]\nlabels = "MIT"\n')
    message = r"lacks `description`, .*`licence.texts`.*`statement.text_characteristics`"
    assert_refused(study, partial(study.release, "v1", folder, lacking), InputError, message)

    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("fcpair.files.tables.folders.write_sums", fail)
        assert_refused(study, release, OSError, "No space")
    assert not folder.exists()
    assert not list(tmp_path.glob(".*"))
    study.release("v1", tmp_path / "draft", lacking, draft=True)
    card = (tmp_path / "draft/README.md").read_text()
    assert "This is a draft" in card
    assert "`licence.texts`" in card
    folder.mkdir()
    (folder / "mine").write_text("x")
    assert_refused(study, release, InputError, "is not empty")
    assert bytes_of(folder) == {"mine": b"x"}
    study.grid().save.partition(Partition(own_tiers={"labels": {"labels": 2}}))
    release = partial(study.release, "v1", tmp_path / "v2", form)
    message = r"two tables of this release would be called `labels`; give the tier of that"
    assert_refused(study, release, InputError, message)
    assert not (tmp_path / "v2").exists()


@pytest.mark.parametrize("texts", [True, False])
def test_tiers_of_its_own_are_released_by_their_names(at: At, tmp_path: Path, texts: bool) -> None:
    study = at("checked")
    study.grid().save.partition(Partition(own_tiers=OWN_TIERS))
    run = study.release("v1", tmp_path / "v1", full_form(tmp_path), texts=texts)
    sizes = study.grid().tiers().table().sizes
    with study._store.read() as tx:
        noted = {release["tier"]: release["counts"]["pairs"] for release in runs.releases(tx)}
    assert noted == run.counts["pairs"] == {tier: n for tier, n in sizes.items() if n}
    croissant = json.loads((tmp_path / "v1/croissant.json").read_text())
    rules = {records["name"]: records["description"] for records in croissant["recordSet"]}
    card = (tmp_path / "v1/README.md").read_text()
    pairs = pd.read_parquet(tmp_path / "v1/data/pairs.parquet")
    for tier, rule in json.loads((tmp_path / "v1/release.json").read_text())["rules"]["main"].items():
        rows = pd.read_parquet(tmp_path / f"v1/data/{tier}.parquet")
        of_tier = study.grid().tier(tier)["pair"].tolist()
        assert rows["pair"].tolist() == of_tier
        assert rules[tier] == f"The pairs of the tier {tier}. {rule}"
        assert f'config_name: "{tier}"' in card
        assert len((tmp_path / f"v1/qrels/{tier}.qrels").read_text().splitlines()) == len(of_tier)
        if tier in OWN_TIERS:
            named = [tier in names.split(", ") for names in pairs["own_tiers"]]
            assert pairs["pair"][named].tolist() == of_tier


@pytest.mark.server
def test_a_release_is_verified_and_a_study_that_moved_on_gives_another_one(at: At, tmp_path: Path) -> None:
    study, form, folder = at("checked"), full_form(tmp_path), tmp_path / "v1"
    run = study.release("v1", folder, form)
    study.grid().export.hf(tmp_path / "hf")
    health = Study.verify(folder, study)
    assert health.is_sound
    assert health.digest == run.counts["digest"]
    with pytest.raises(InputError, match="is a release of another study"):
        Study.verify(folder, Study.create(tmp_path / "other.db"))
    check(study, tmp_path, [("vera", pairs_of(study, "vera")[0], "disagree")], supersede=True)
    health = Study.verify(folder, study)
    assert health.faults == ()
    assert {"data/silver.parquet would differ", "data/verdicts.csv would differ"} <= set(health.differences)
    assert "data/labels.csv would differ" not in health.differences
    message = r"the name `v1` is taken by a release of .* with other content"
    assert_refused(study, partial(study.release, "v1", tmp_path / "other", form), InputError, message)
    assert not (tmp_path / "other").exists()
    assert not list(tmp_path.glob(".*"))
    with (folder / SUMS).open("ab") as file:
        file.write(b"\n")
    assert Study.verify(folder).faults == ("SHA256SUMS was changed: it is not as fcpair writes it",)


def test_a_calibration_is_not_counted_and_an_answer_that_was_carried_over_once(at: At, tmp_path: Path) -> None:
    """Twelve first answers and six second ones; the first count as labels, so that twelve labels stand."""
    study = at("paired")
    calibrated(study, "first")
    study.grid().assign()
    study.release("v1", tmp_path / "v1", full_form(tmp_path), draft=True)
    labels = pd.read_parquet(tmp_path / "v1/data/labels.parquet")
    assert len(labels) == 12
    datasheet = (tmp_path / "v1/datasheet.md").read_text("utf-8")
    assert "The tables rest on 12 answers, skips and verdicts included: 12 online." in datasheet
    left_out = "The 18 answers of calibration rounds are left out; those that count are among the labels."
    assert left_out in datasheet
    assert left_out in (tmp_path / "v1/README.md").read_text("utf-8")


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
    for who, answers in (("ana", {"Place": "here"}), ("ben", {"Age": "old"})):
        study.access.consent(ids[names[who]], answers, "yes")
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
