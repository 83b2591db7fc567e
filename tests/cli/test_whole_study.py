"""The whole road on the real data, with the real encoder, exactly as the lines are written for users."""

from __future__ import annotations

import csv
import json
import shlex
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from steps.small import write_csv

from fcpair.cli import main
from fcpair.stages.corpus.text_identity import digest
from fcpair.store.corpus import sides, texts
from fcpair.study import Study

pytestmark = [pytest.mark.torch, pytest.mark.slow]

LINES = """
export FCPAIR_STUDY=s.db
fcpair init
fcpair import CONAN.csv --reader conan --only-language en
fcpair select --hs-list hs45.csv                 # or --hs 45 --seed 13
fcpair retrieve --k 2 --count-duplicates      # --model all-MiniLM-L6-v2 is the default
fcpair pair --candidates 129 --seed 13
fcpair assign --annotators 9 --overlap 2:0.126 --overlap 3:0.05 --seed 13
fcpair status --format json
fcpair labels sheets sheets/
fcpair labels import labels.csv               # or: simulate --seed 13
fcpair agreement --format json
fcpair adjudicate --policy majority
fcpair validate assign --validators 4 --pairs 4000 --seed 13
fcpair validate import verdicts.csv           # or: simulate --seed 14, which fills whatever round is open
fcpair partition --format json                # --diamond majority|unanimous
fcpair partition --tier gold --out gold.csv
fcpair explain 17
fcpair report --out report.html

FCPAIR_STUDY=published.db fcpair init
FCPAIR_STUDY=published.db fcpair labels import bronze_partition_df.csv --reader fc-conan
FCPAIR_STUDY=published.db fcpair partition --diamond majority --format json
"""
EXAMPLES = Path(__file__).parents[2] / "examples"
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TIERS = ["diamond", "gold", "silver", "bronze"]


def fcpair(*words: str, study: str | None = None, code: int = 0) -> str:
    result = CliRunner(env={"FCPAIR_STUDY": study} if study else None).invoke(main, words)
    assert result.exit_code == code, result.output
    return result.stdout


def filled(sheets: Path, column: str, answers: list[str], target: Path) -> Path:
    """All sheets of a folder as one file, each row answered by the number of its pair."""
    rows = [row for sheet in sorted(sheets.glob("*.csv")) for row in read(sheet)]
    return write_csv(target, [{**row, column: answers[int(row["pair"]) % len(answers)]} for row in rows])


@pytest.fixture(scope="module")
def printed(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What each of the lines printed; the files that people make are made when they are due."""
    outputs: dict[str, str] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("road"))
        Path("CONAN.csv").symlink_to(data / "conan" / "CONAN.csv")
        Path("bronze_partition_df.csv").symlink_to(data / "fc-conan" / "bronze_partition_df.csv")
        chosen = (data / "fc-conan" / "recommender" / "fc_conan_bronze_hs.csv").read_text("utf-8").splitlines()
        Path("hs45.csv").write_text("\n".join(["hs", *chosen[1:]]) + "\n", "utf-8")
        for line in LINES.strip().splitlines():
            words = shlex.split(line, comments=True)
            study = None
            if words[:1] == ["export"]:
                patch.setenv(*words[1].split("=", 1))
                continue
            if words and "=" in words[0]:
                study = words.pop(0).split("=", 1)[1]
            if not words:
                continue
            if words[1:3] == ["labels", "import"] and study is None:
                labels = ["0", "2", "not_appropriate", "skip", "1", "0", "appropriate"]
                filled(Path("sheets"), "label", labels, Path("labels.csv"))
            if words[1:3] == ["validate", "import"]:
                fcpair("validate", "sheets", "checks/")
                filled(Path("checks"), "verdict", ["agree", "disagree", "agree"], Path("verdicts.csv"))
            outputs[line.split("#")[0].strip()] = fcpair(*words[1:], study=study)
        yield outputs


def of(printed: dict[str, str], line: str) -> str:
    return next(output for command, output in printed.items() if command.startswith(line))


def tiers(text: str) -> dict[str, dict[str, Any]]:
    return {row["tier"]: row for row in json.loads(text)["tiers"]}


def read(path: str | Path) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# -- the first study


def test_the_corpus_has_the_published_size_and_its_candidates_too(printed: dict[str, str], data: Path) -> None:
    assert len(printed) == 20  # every line was run
    runs = {run["stage"]: run for run in json.loads(fcpair("log", "--format", "json"))}
    assert runs["import"]["counts"] == {"rows": 3864, "hs": 408, "cn": 1270, "other_languages": 11124}
    assert runs["select"]["counts"] == {"hs": 45, "source_cns": 375}
    assert runs["retrieve"]["counts"]["candidates"] == 133
    model = runs["retrieve"]["model"]
    assert (model["name"], model["sha256"]) == ("all-MiniLM-L6-v2", WEIGHTS)
    with Study("s.db")._store.read() as tx:
        candidates = set(sides.text_ids(tx, "column"))
        ids = texts.text_ids(tx, "cn")
    bronze = read(data / "fc-conan" / "bronze_partition_df.csv")
    published = {ids[digest(row["counternarrative"])] for row in bronze}
    assert len(published) == 130
    assert published <= candidates


def test_the_grid_is_45_by_129_dealt_evenly_and_whole(printed: dict[str, str]) -> None:
    state = json.loads(of(printed, "fcpair status"))
    assert state["stages"]["pair"] == 5805
    assert state["overlap"] == {"1": 5805 - 731 - 290, "2": 731, "3": 290}
    loads = {row["name"]: row["open"] for row in state["people"]}
    assert len(loads) == 9
    assert sum(loads.values()) == 5805 + 731 + 2 * 290
    assert max(loads.values()) - min(loads.values()) <= 1
    assert Counter(row["annotator"] for row in read("labels.csv")) == loads
    measured = json.loads(of(printed, "fcpair agreement"))
    assert 0 < measured["n_overlapped"] <= 731 + 290
    assert len(measured["subsets"]) == 36
    assert "5,805" in Path("report.html").read_text("utf-8")


def test_the_tiers_are_nested_written_and_explained(printed: dict[str, str]) -> None:
    sizes = [tiers(of(printed, "fcpair partition --format"))[tier]["pairs"] for tier in TIERS]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > 1
    ids = [
        {row["pair"] for row in json.loads(fcpair("partition", "--tier", tier, "--format", "json"))} for tier in TIERS
    ]
    assert [len(pairs) for pairs in ids] == sizes
    assert all(inner <= outer for inner, outer in pairwise(ids))
    gold = read("gold.csv")
    assert len(gold) == sizes[1] > 100
    assert {row["tier"] for row in gold} <= {"gold", "diamond"}
    explained = of(printed, "fcpair explain")
    assert explained.startswith("pair 17: ")
    assert "brought in: neighbour " in explained


# -- the published study


def test_the_published_tiers_have_the_published_sizes_and_pairs(printed: dict[str, str], data: Path) -> None:
    found = tiers(of(printed, "FCPAIR_STUDY=published.db fcpair partition"))
    columns = ("pairs", "appropriate", "3+ labels", "2 labels", "1 label")
    assert {tier: [found[tier][name] for name in columns] for tier in TIERS} == {
        "diamond": [551, 35, 195, 356, 0],
        "gold": [663, 54, 195, 468, 0],
        "silver": [3580, 431, 195, 468, 2917],
        "bronze": [3997, 702, 199, 502, 3296],
    }
    unanimous = tiers(fcpair("partition", "--format", "json", study="published.db"))
    assert [unanimous[tier]["pairs"] for tier in TIERS] == [530, 663, 3580, 3997]
    for tier in TIERS:
        words = ("partition", "--diamond", "majority", "--tier", tier, "--layout", "fc-conan")
        fcpair(*words, "--out", f"{tier}.csv", study="published.db")
        ours, theirs = (
            sorted(int(row["original_index"]) for row in read(path))
            for path in (f"{tier}.csv", data / "fc-conan" / f"{tier}_partition_df.csv")
        )
        assert ours == theirs


def test_the_majority_makes_the_published_labels_and_another_label_is_found(printed: dict[str, str]) -> None:
    rehearsing = ("adjudicate", "--policy", "majority", "--dry-run")
    assert "3,997 of 3,997 compared are the same" in fcpair(*rehearsing, study="published.db")
    Path("other.db").write_bytes(Path("published.db").read_bytes())
    kept = json.loads(fcpair("partition", "--tier", "diamond", "--format", "json", study="published.db"))[0]
    label = {"appropriate": "0", "not_appropriate": "2"}[kept["label"]]
    decided = write_csv(Path("decided.csv"), [{"pair": kept["pair"], "label": label}])
    fcpair("adjudicate", "--import", str(decided), "--supersede", study="other.db")
    assert "3,996 of 3,997 compared are the same" in fcpair(*rehearsing, study="other.db", code=1)


def test_the_published_kappa_and_intervals_that_say_for_whom_they_speak(printed: dict[str, str]) -> None:
    """For columns 1 and 2 the formula of Fleiss, Cohen and Everitt, which takes pairs for independent, has 0.035."""
    measured = json.loads(fcpair("agreement", "--format", "json", study="published.db"))
    subsets = {tuple(one["annotators"]): one for one in measured["subsets"]}
    first = subsets["annotator-1", "annotator-2"]
    assert first["n"] == 701
    assert first["kappa"]["value"] == pytest.approx(0.377427, abs=5e-7)
    assert measured["subsets"][0]["kappa_se"] > 0.1
    assert all(figure["low"] is not None for figure in (*measured["pooled"], measured["summary"][0]))
    shown = fcpair("agreement", study="published.db")
    assert "95 % intervals for new HS and CN, the same annotators" in shown
    assert "interval from 45 HS, 24 CN" in shown
    assert "intervals for new HS and CN, the same two" in shown


# -- the example


def test_the_example_recipe_walks_to_the_end(tmp_path: Path) -> None:
    study = str(tmp_path / "demo.db")
    words = ["run", str(EXAMPLES / "recipe.toml"), "--study", study]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    stages = [line.split(":")[0] for line in result.stdout.splitlines()]
    assert " ".join(stages) == (
        "import select retrieve pair assign annotate simulate adjudicate validate simulate agreement partition "
        "evaluate next"
    )
    assert "SIMULATED" in result.stderr
    sizes = [tiers(fcpair("partition", "--format", "json", study=study))[tier]["pairs"] for tier in TIERS]
    assert sizes == sorted(sizes)
    assert sizes[0] > 0
    assert [line.split(":")[0] for line in CliRunner().invoke(main, words).stdout.splitlines()] == ["next"]


def test_the_recipe_of_fc_conan_makes_its_grid(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FCPAIR_DATA", str(data))
    study = str(tmp_path / "fc.db")
    fcpair("run", str(EXAMPLES / "fc-conan.toml"), study=study)
    state = json.loads(fcpair("status", "--format", "json", study=study))
    assert state["stages"]["pair"] == 5805
    assert state["overlap"] == {"1": 4784, "2": 731, "3": 290}
    assert state["rounds"]["label"]["open"] == 5805 + 731 + 2 * 290
