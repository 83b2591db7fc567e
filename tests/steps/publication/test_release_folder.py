"""A release: the same study gives the same bytes, it says nothing that is not public, and it can be checked."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fcpair.errors import InputError, StageError
from fcpair.files.tables.folders import SUMS
from fcpair.params import Partition
from fcpair.records import TIERS, Role
from fcpair.steps.base.context import note_run
from fcpair.store.oversight import runs
from fcpair.study import Study
from steps.calibrated import calibrated
from steps.publication.releasing import bytes_of, full_form, pairs_of
from steps.small import ANNOTATORS, CNS, HS, VALIDATORS, check, dump, label_of, open_work, record

At = Callable[[str], Study]
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


def test_the_same_study_gives_the_same_bytes_at_any_time_and_place(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, form = at("checked"), full_form(tmp_path)
    first = study.release("v1", tmp_path / "a", form)
    monkeypatch.setattr(runs, "now", lambda: "2031-01-01T00:00:00+00:00")
    (tmp_path / "other place").mkdir()
    second = study.release("v1", tmp_path / "other place" / "b", form)
    assert first.counts["digest"] == second.counts["digest"]
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "other place" / "b")


def test_each_tier_is_what_partition_writes_but_for_the_names_of_people(at: At, tmp_path: Path) -> None:
    study = at("checked")
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    for tier in TIERS:
        study.grid().release(tier, tmp_path / f"{tier}.parquet")
        expected, released = (
            pd.read_parquet(place) for place in (tmp_path / f"{tier}.parquet", tmp_path / f"v1/data/{tier}.parquet")
        )
        pd.testing.assert_frame_equal(tier_without_names(released), tier_without_names(expected))


def test_labels_keep_together_who_gave_them(at: At, tmp_path: Path) -> None:
    study = at("checked")
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    released = pd.read_parquet(tmp_path / "v1/data/labels.parquet")
    known = study.grid().labels()
    by_person = [
        {tuple(sorted(zip(rows["pair"], rows["label"], strict=True))) for _, rows in frame.groupby("annotator")}
        for frame in (released, known)
    ]
    assert by_person[0] == by_person[1]
    assert set(released["annotator"]).isdisjoint(ANNOTATORS)


def test_nothing_private_is_in_any_byte(at: At, tmp_path: Path) -> None:
    study, note = at("checked"), "a private note"
    study.save_terms(contact=CONTACT)
    study.add_people(["quokka-seven"], Role.ADJUDICATOR)
    token = study.access.invite("quokka-seven")
    study.grid().decide(study.grid().waiting_pairs()[0], 2, by="quokka-seven", note=note)
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    with study._store.read() as tx:
        secret = runs.secret(tx)
    private = ["quokka-seven", token, note, secret, str(tmp_path), "Dr Lee", "555 0100", "clinic", *VALIDATORS, "cleo"]
    for name, content in bytes_of(tmp_path / "v1").items():
        assert not [text for text in private if text.encode() in content], name


def test_the_model_of_the_retrieval_keeps_its_name_where_a_validator_is_called_like_a_part_of_it(
    at: At, tmp_path: Path
) -> None:
    study = at("checked")
    study.add_people(["v2"], Role.VALIDATOR)
    with study._store.write() as tx:
        note_run(tx, "retrieve", {"model": "all-MiniLM-L6-v2"}, {}, {"name": "all-MiniLM-L6-v2"})
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    lines = [json.loads(line) for line in (tmp_path / "v1/runs.jsonl").read_text().splitlines()]
    assert lines[-1]["params"]["model"] == lines[-1]["model"]["name"] == "all-MiniLM-L6-v2"
    assert '"v2"' not in (tmp_path / "v1/runs.jsonl").read_text()


def test_whoever_is_called_by_a_word_of_the_study_is_not_told_by_it(at: At, tmp_path: Path) -> None:
    study = at("checked")
    study.add_people(["label", "majority", "agree", "not_appropriate", "silver"], Role.VALIDATOR)
    study.grid().adjudicate(policy="majority")
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    lines = [json.loads(line) for line in (tmp_path / "v1/runs.jsonl").read_text().splitlines()]
    assert lines[-1]["params"]["policy"] == "majority"
    assert "majority" in lines[-1]["counts"]
    assert set(pd.read_csv(tmp_path / "v1/agreement.csv")["round"]) == {"label"}


def test_acts_on_single_people_are_not_in_the_log(at: At, tmp_path: Path) -> None:
    study = at("checked")
    for name in ("zoe", "yan"):
        study.add_people([name], Role.ANNOTATOR)
        study.access.invite(name)
    with study._store.write() as tx:
        note_run(tx, "people", {"let_on": "ben", "grid": "main"}, {"people": 1})
    study.dismiss("zoe", reason="Thank you.")
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    lines = [json.loads(line) for line in (tmp_path / "v1/runs.jsonl").read_text().splitlines()]
    assert {"people", "dismiss"} < {run.stage for run in study.log()}
    assert not {"people", "dismiss"} & {line["stage"] for line in lines}
    assert [line["run"] for line in lines] == [*range(1, len(lines) + 1)]


def test_the_log_has_one_line_for_all_answers_of_a_round(at: At, tmp_path: Path) -> None:
    """Of 24 pairs six have two labels and six three: 12 + 12 + 18 = 42, which three people sent, 14 each."""
    study = at("dealt")
    for name in ANNOTATORS:
        record(study, tmp_path, [(who, pair, label_of(pair, who)) for who, pair in open_work(study) if who == name])
        study.grid().adjudicate(policy="majority")
    assert [run.counts["answers"] for run in study.log() if run.stage == "label import"] == [14, 14, 14]
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    lines = [json.loads(line) for line in (tmp_path / "v1/runs.jsonl").read_text().splitlines()]
    assert [line["counts"] for line in lines if line["stage"] == "label import"] == [
        {"answers": 42, "skips": 0, "already_there": 0}
    ]
    assert [line["stage"] for line in lines].count("adjudicate") == 1


def test_what_was_written_to_whoever_was_dismissed_is_not_published(at: At, tmp_path: Path) -> None:
    study = at("checked")
    study.dismiss("ben", reason="Thank you, but no.")
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    for name, content in bytes_of(tmp_path / "v1").items():
        assert b"but no." not in content, name


def test_the_same_seed_keeps_pseudonyms_and_another_changes_them(at: At, tmp_path: Path) -> None:
    study, form = at("checked"), full_form(tmp_path)

    def names(folder: str) -> set[str]:
        return set(pd.read_parquet(tmp_path / folder / "data/labels.parquet")["annotator"])

    study.release("v1", tmp_path / "v1", form)
    study.add_people(["zoe"], Role.ANNOTATOR)
    study.release("v2", tmp_path / "v2", form)
    study.release("v3", tmp_path / "v3", form, seed=1)
    assert names("v1") == names("v2")
    assert names("v1").isdisjoint(names("v3"))


def test_without_texts_there_are_digests_and_a_script(at: At, tmp_path: Path) -> None:
    at("checked").release("v1", tmp_path / "v1", full_form(tmp_path), texts=False)
    for name, content in bytes_of(tmp_path / "v1").items():
        assert not [text for text in (*HS, *CNS) if text.encode() in content], name
    rows = pd.read_parquet(tmp_path / "v1/data/gold.parquet")
    assert {"hs_sha256", "cn_sha256"} <= set(rows.columns)
    assert not [name for name in rows.columns if name.startswith(("hs.", "cn."))]
    assert (tmp_path / "v1/join_texts.py").is_file()


def test_the_log_has_days_and_no_releases(at: At, tmp_path: Path) -> None:
    study = at("checked")
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    study.release("v2", tmp_path / "v2", full_form(tmp_path))
    lines = [json.loads(line) for line in (tmp_path / "v2/runs.jsonl").read_text().splitlines()]
    expected = [run.stage for run in study.log() if run.stage not in ("people", "release")]
    assert [line["stage"] for line in lines] == expected
    assert {len(line["day"]) for line in lines} == {10}
    assert {line["params"].get("path") for line in lines} == {
        None,
        "corpus.csv",
        "some-labels.csv",
        "some-verdicts.csv",
    }


def test_documents_count_answers_and_decisions_as_status_does_however_many_runs_they_took(
    at: At, tmp_path: Path
) -> None:
    study = at("checked")
    study.add_people(["judge"], Role.ADJUDICATOR)
    study.grid().decide(study.grid().waiting_pairs()[0], 2, by="judge")
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    status = study.status()
    lines = [
        f"- round {name}: answers {counts['done']}, skipped {counts['skipped']}"
        for name, counts in status["rounds"].items()
    ]
    rules = {rule: n for rule, n in status["adjudications"].items() if n and rule not in ("waiting", "second_look")}
    lines.append("- decisions: " + ", ".join(f"{rule.replace('_', ' ')} {rules[rule]}" for rule in sorted(rules)))
    for document in ("datasheet.md", "data-statement.md"):
        text = (tmp_path / "v1" / document).read_text("utf-8")
        assert [line for line in text.splitlines() if line.startswith(("- round", "- decisions"))] == lines
        assert "- label import" not in text


def test_the_recipe_can_be_read(at: At, tmp_path: Path) -> None:
    at("checked").release("v1", tmp_path / "v1", full_form(tmp_path))
    assert tomllib.loads((tmp_path / "v1/recipe.toml").read_text())["import"]["path"] == "corpus.csv"


def test_the_study_notes_what_was_frozen(at: At, tmp_path: Path) -> None:
    study = at("checked")
    run = study.release("v1", tmp_path / "v1", full_form(tmp_path))
    with study._store.read() as tx:
        kept = {one["tier"]: one for one in runs.releases(tx)}
    assert set(kept) == set(TIERS)
    assert kept["gold"]["path"] == str(tmp_path / "v1/data/gold.parquet")
    assert study.log()[-1].stage == run.stage == "release"
    assert not Study.doctor(study.place).checks[-1].found


def test_a_name_is_taken_by_other_content(at: At, tmp_path: Path) -> None:
    study, form = at("checked"), full_form(tmp_path)
    study.release("v1", tmp_path / "v1", form)
    check(study, tmp_path, [("vera", int(one), "disagree") for one in pairs_of(study, "vera")[:1]], supersede=True)
    before = dump(study)
    with pytest.raises(InputError, match=r"the name `v1` is taken by a release of .* with other content"):
        study.release("v1", tmp_path / "other", form)
    assert not (tmp_path / "other").exists()
    assert not list(tmp_path.glob(".*"))
    assert dump(study) == before


@pytest.mark.parametrize("name", ["", "a b", "../v1", "v/1", "-v", "x" * 200])
def test_a_name_that_names_no_folder_is_refused(at: At, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot name a release"):
        at("checked").release(name, tmp_path / "v1", full_form(tmp_path))


def test_what_is_missing_in_the_form_is_listed_and_needs_a_draft(at: At, tmp_path: Path) -> None:
    study, form = at("checked"), tmp_path / "release.toml"
    form.write_text('title = "T"\n[licence]\nlabels = "MIT"\n')
    with pytest.raises(InputError, match=r"lacks `description`, .*`licence.texts`.*`statement.text_characteristics`"):
        study.release("v1", tmp_path / "v1", form)
    assert not (tmp_path / "v1").exists()
    study.release("v1", tmp_path / "v1", form, draft=True)
    card = (tmp_path / "v1/README.md").read_text()
    assert "This is a draft" in card
    assert "`licence.texts`" in card


def test_a_study_without_labels_gives_none(at: At, tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"needs labels or answers first"):
        at("dealt").release("v1", tmp_path / "v1", full_form(tmp_path))
    assert not (tmp_path / "v1").exists()


def test_a_folder_with_something_in_it_is_left_alone(at: At, tmp_path: Path) -> None:
    (tmp_path / "v1").mkdir()
    (tmp_path / "v1" / "mine").write_text("x")
    with pytest.raises(InputError, match="is not empty"):
        at("checked").release("v1", tmp_path / "v1", full_form(tmp_path))
    assert bytes_of(tmp_path / "v1") == {"mine": b"x"}


def test_a_release_that_fails_while_it_is_written_leaves_nothing(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    study, form = at("checked"), full_form(tmp_path)

    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise OSError(28, "No space left on device")

    before = dump(study)
    monkeypatch.setattr("fcpair.files.tables.folders.write_sums", fail)
    with pytest.raises(OSError, match="No space"):
        study.release("v1", tmp_path / "v1", form)
    assert not (tmp_path / "v1").exists()
    assert not list(tmp_path.glob(".*"))
    assert dump(study) == before


@pytest.mark.parametrize("texts", [True, False])
def test_tiers_of_its_own_are_released_by_their_names(at: At, tmp_path: Path, texts: bool) -> None:
    study = at("checked")
    study.grid().save.partition(Partition(own_tiers=OWN_TIERS))
    run = study.release("v1", tmp_path / "v1", full_form(tmp_path), texts=texts)
    sizes = study.grid().tiers().table().sizes
    with study._store.read() as tx:
        noted = {one["tier"]: one["counts"]["pairs"] for one in runs.releases(tx)}
    assert noted == run.counts["pairs"] == {tier: n for tier, n in sizes.items() if n}
    croissant = json.loads((tmp_path / "v1/croissant.json").read_text())
    rules = {one["name"]: one["description"] for one in croissant["recordSet"]}
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


def test_a_tier_called_like_another_table_is_refused(at: At, tmp_path: Path) -> None:
    study = at("checked")
    study.grid().save.partition(Partition(own_tiers={"labels": {"labels": 2}}))
    with pytest.raises(InputError, match=r"two tables of this release would be called `labels`; give the tier of that"):
        study.release("v1", tmp_path / "v1", full_form(tmp_path))
    assert not (tmp_path / "v1").exists()


@pytest.mark.server
def test_a_release_is_verified_and_the_study_still_gives_it(at: At, tmp_path: Path) -> None:
    study = at("checked")
    run = study.release("v1", tmp_path / "v1", full_form(tmp_path))
    study.grid().export.hf(tmp_path / "hf")
    found = Study.verify(tmp_path / "v1", study)
    assert found.is_sound
    assert found.digest == run.counts["digest"]


def test_a_study_that_moved_on_gives_another_one(at: At, tmp_path: Path) -> None:
    study = at("checked")
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    pair = pairs_of(study, "vera")[0]
    check(study, tmp_path, [("vera", pair, "disagree")], supersede=True)
    found = Study.verify(tmp_path / "v1", study)
    assert found.faults == ()
    assert {"data/silver.parquet would differ", "data/verdicts.csv would differ"} <= set(found.differences)
    assert "data/labels.csv would differ" not in found.differences


def test_another_study_is_refused(at: At, tmp_path: Path, files: dict[str, Path]) -> None:
    at("checked").release("v1", tmp_path / "v1", full_form(tmp_path))
    other = Study.create(tmp_path / "other.db")
    with pytest.raises(InputError, match="is a release of another study"):
        Study.verify(tmp_path / "v1", other)


def test_a_changed_byte_is_found_without_the_study(at: At, tmp_path: Path) -> None:
    at("checked").release("v1", tmp_path / "v1", full_form(tmp_path))
    with (tmp_path / "v1" / SUMS).open("ab") as file:
        file.write(b"\n")
    assert Study.verify(tmp_path / "v1").faults == ("SHA256SUMS was changed: it is not as fcpair writes it",)


def test_a_calibration_is_not_counted_and_an_answer_that_was_carried_over_once(at: At, tmp_path: Path) -> None:
    """Twelve first answers and six second ones; the first count as labels, so that twelve labels stand."""
    study = at("paired")
    calibrated(study, "first")
    study.grid().assign()
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    labels = pd.read_parquet(tmp_path / "v1/data/labels.parquet")
    assert len(labels) == 12
    datasheet = (tmp_path / "v1/datasheet.md").read_text("utf-8")
    assert "The tables rest on 12 answers, skips and verdicts included: 12 online." in datasheet
    left_out = "The 18 answers of calibration rounds are left out; those that count are among the labels."
    assert left_out in datasheet
    assert left_out in (tmp_path / "v1/README.md").read_text("utf-8")
