"""FC-CONAN and the kindred studies released: other libraries load every table, and nothing that changes is missed."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from warnings import catch_warnings

import pandas as pd
import pytest
from conftest import one_short

from fcpair.records import TIERS, Role
from fcpair.store.answers import judgements
from fcpair.store.corpus.grids import to_public_number
from fcpair.store.oversight import runs
from fcpair.study import Study
from steps.kindred import build_smaller_parscn
from steps.releasing import bytes_of, full_form
from steps.small import check, record

# With torch, so that `datasets`, which loads it, is loaded in one process alone.
pytestmark = [pytest.mark.files, pytest.mark.slow, pytest.mark.torch]
Walked = Callable[[str], Path]
FLIPS, CHANGES = 400, 50


@pytest.fixture(scope="module")
def published(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    with closing(Study.create(tmp_path_factory.mktemp("study-of-ada") / "fc-conan.db")) as study:
        study.grid().import_published(data / "fc-conan" / "bronze_partition_df.csv")
        yield study


@pytest.fixture(scope="module")
def released(published: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("releases")
    published.release("fc-conan-1", folder / "v1", full_form(folder))
    return folder / "v1"


@pytest.fixture(scope="module")
def records(released: Path) -> dict[str, pd.DataFrame]:
    return by_croissant(released)


def by_datasets(folder: Path, name: str, cache: Path) -> pd.DataFrame:
    """A table as the library of Hugging Face loads it."""
    import datasets

    rows: pd.DataFrame = datasets.load_dataset(str(folder), name, split="train", cache_dir=str(cache)).to_pandas()
    return rows


def by_croissant(folder: Path) -> dict[str, pd.DataFrame]:
    """Every record set as mlcroissant reads it: texts come as bytes, and their columns behind the name of the set."""
    with catch_warnings(action="ignore"):  # of what its libraries will lose
        import mlcroissant

        dataset = mlcroissant.Dataset(folder / "croissant.json")
        assert not dataset.metadata.issues.errors
        assert not dataset.metadata.issues.warnings
        return {record_set.name: _record_frame(dataset, record_set) for record_set in dataset.metadata.record_sets}


def _record_frame(dataset: Any, record_set: Any) -> pd.DataFrame:
    names = {field.id: field.name for field in record_set.fields}
    rows = [
        {names[key]: value.decode() if isinstance(value, bytes) else value for key, value in row.items()}
        for row in dataset.records(record_set.id)
    ]
    return pd.DataFrame(rows)


def plain(rows: pd.DataFrame) -> list[list[Any]]:
    """The cells, with None for what is missing."""
    return rows.astype(object).where(rows.notna(), None).to_numpy().tolist()


def assert_loads_everywhere(folder: Path, records: dict[str, pd.DataFrame], cache: Path) -> None:
    """Both libraries load every table of a release as it is in its file; `records` are those of mlcroissant."""
    tables = {path.stem: pd.read_parquet(path) for path in (folder / "data").glob("*.parquet")}
    assert set(records) == set(tables)
    for name, rows in tables.items():
        loaded = by_datasets(folder, name, cache)
        assert list(loaded.columns) == list(records[name].columns) == list(rows.columns)
        assert plain(loaded) == plain(rows)
        assert plain(records[name]) == plain(rows)


def test_every_tier_of_fc_conan_is_loaded_as_partition_writes_it(
    published: Study, released: Path, records: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    names = labels_by_name(published, released)
    for tier in TIERS:
        published.grid().release(tier, tmp_path / f"{tier}.parquet")
        expected = pd.read_parquet(tmp_path / f"{tier}.parquet").rename(columns=names)
        loaded = by_datasets(released, tier, tmp_path / "cache")
        assert set(loaded.columns) == set(records[tier].columns) == set(expected.columns)
        assert plain(loaded[list(expected.columns)]) == plain(expected)
        assert plain(records[tier][list(expected.columns)]) == plain(expected)


def labels_by_name(study: Study, folder: Path) -> dict[str, str]:
    """Which column of a release has the labels of whom, found by what they say of every pair."""
    known, fresh = study.grid().labels(), pd.read_parquet(folder / "data" / "labels.parquet")
    names = {answers_of(fresh, name): name for name in set(fresh["annotator"])}
    return {f"label.{name}": f"label.{names[answers_of(known, name)]}" for name in set(known["annotator"])}


def answers_of(rows: pd.DataFrame, name: str) -> frozenset[tuple[int, str]]:
    """What somebody said of each pair."""
    own = rows[rows["annotator"] == name]
    return frozenset(zip(own["pair"].tolist(), own["label"].tolist(), strict=True))


def test_every_other_table_of_fc_conan_is_loaded_by_both_libraries(
    released: Path, records: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    assert_loads_everywhere(released, records, tmp_path / "cache")


def test_nothing_private_of_fc_conan_is_in_any_byte(published: Study, released: Path) -> None:
    with published._store.read() as tx:
        secret = runs.secret(tx)
    people = [person.name for person in published.people if person.name not in set(Role)]
    assert len(people) == 4
    private = [*people, secret, "study-of-ada", str(Path(published.place).parent), "/join#", "/dev/", "/tmp/"]
    for name, content in bytes_of(released).items():
        assert not [text for text in private if text.encode() in content], name


def test_each_of_400_flipped_bytes_is_found(released: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(released, tmp_path / "v1"))
    contents = bytes_of(folder)
    draw = random.Random(13)
    names = sorted(name for name, content in contents.items() if content)
    for _ in range(FLIPS):
        name = draw.choice(names)
        at = draw.randrange(len(contents[name]))
        flipped = bytearray(contents[name])
        flipped[at] ^= draw.randrange(1, 256)
        (folder / name).write_bytes(flipped)
        assert not Study.verify(folder).is_sound, (name, at)
        (folder / name).write_bytes(contents[name])
    assert Study.verify(folder).is_sound


def test_each_of_50_planted_changes_is_explained(published: Study, released: Path, tmp_path: Path) -> None:
    path = shutil.copy(published.place, tmp_path / "fc-conan.db")
    with closing(Study(Path(path))) as study:
        answers, verdicts, decisions = plant_changes(study, tmp_path)
        study.release("fc-conan-2", tmp_path / "v2", full_form(tmp_path))
    changes = {change.pair: change for change in Study.diff(released, tmp_path / "v2")}
    assert set(changes) == {*answers, *verdicts, *decisions}
    assert len(changes) == CHANGES
    for pair in answers:
        assert (changes[pair].tier_before, changes[pair].tier_after) == ("diamond", "gold")
        assert [clause.split(" of ")[0] for clause in changes[pair].because] == ["answer"]
    for pair in verdicts:
        assert (changes[pair].tier_before, changes[pair].tier_after) == ("silver", "bronze")
        assert [clause.split(" of ")[0] for clause in changes[pair].because] == ["verdict"]
    for pair in decisions:
        assert (changes[pair].change, changes[pair].tier_after) == ("went", "")
        assert changes[pair].because[0].startswith("decision: ")


def plant_changes(study: Study, folder: Path) -> tuple[list[int], list[int], list[int]]:
    """Twenty answers and twenty verdicts that differ, and ten decisions by a person; the pairs of each."""
    grid = study.grid()
    bronze = grid.tier("bronze")
    diamond = bronze[bronze["tier"] == "diamond"].head(20)
    silver = bronze[bronze["tier"] == "silver"]
    with study._store.read() as tx:
        validators = judgements.current_verdicts(tx, "cell_id", "person_id")
    names = {person.id: person.name for person in study.people}
    by_pair = dict(zip(to_public_number(validators["cell_id"]), validators["person_id"].map(names), strict=True))
    labels = grid.labels()
    first = labels[labels["pair"].isin(diamond["pair"])].drop_duplicates("pair")
    other = {"appropriate": "not_appropriate", "not_appropriate": "appropriate"}
    answers = zip(first["annotator"], first["pair"], first["label"], strict=True)
    record(study, folder, [(str(name), int(pair), other[label]) for name, pair, label in answers], supersede=True)
    checked = [int(pair) for pair in silver["pair"].head(20)]
    check(study, folder, [(by_pair[pair], pair, "disagree") for pair in checked], supersede=True)
    study.add_people(["judge-judy"], Role.ADJUDICATOR)
    decided = silver.iloc[20:30]
    for pair, label in zip(decided["pair"], decided["label"], strict=True):
        grid.decide(int(pair), 0 if label == "appropriate" else 2, by="judge-judy")
    return [int(pair) for pair in diamond["pair"]], checked, [int(pair) for pair in decided["pair"]]


@pytest.mark.parametrize("name", one_short("survey", "crowdcounter", "parscn"))
def test_a_kindred_study_is_released_loaded_and_verified(name: str, data: Path, walked: Walked, tmp_path: Path) -> None:
    place = build_smaller_parscn(tmp_path) if name == "parscn" else walked(name)
    with closing(Study(Path(shutil.copy(place, tmp_path / "copy.db")))) as study:
        run = study.release(f"{name}-1", tmp_path / "v1", full_form(tmp_path))
        assert Study.verify(tmp_path / "v1", study).digest == run.counts["digest"]
        assert Study.verify(tmp_path / "v1", study).is_sound
        people = [person.name for person in study.people if person.role is not Role.MODEL]
    assert_loads_everywhere(tmp_path / "v1", by_croissant(tmp_path / "v1"), tmp_path / "cache")
    for path in (tmp_path / "v1" / "data").glob("*.parquet"):
        rows = pd.read_parquet(path)
        if "by" in rows.columns:
            assert set(rows["by"]).isdisjoint(people)
    card = (tmp_path / "v1" / "README.md").read_text("utf-8")
    assert "answers were made up by simulated people" in card
