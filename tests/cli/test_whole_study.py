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
from fcpair.store.corpus import sides

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


def filled(sheets: Path, column: str, answer: dict[int, str], target: Path) -> Path:
    """All sheets of a folder as one file, each row answered by the number of its pair."""
    rows: list[dict[str, str]] = []
    for sheet in sorted(sheets.glob("*.csv")):
        with sheet.open(encoding="utf-8", newline="") as file:
            rows += [{**row, column: answer[int(row["pair"]) % len(answer)]} for row in csv.DictReader(file)]
    return write_csv(target, rows)


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
                labels = dict(enumerate(["0", "2", "not_appropriate", "skip", "1", "0", "appropriate"]))
                filled(Path("sheets"), "label", labels, Path("labels.csv"))
            if words[1:3] == ["validate", "import"]:
                fcpair("validate", "sheets", "checks/")
                filled(Path("checks"), "verdict", dict(enumerate(["agree", "disagree", "agree"])), Path("verdicts.csv"))
            outputs[line.split("#")[0].strip()] = fcpair(*words[1:], study=study)
        yield outputs


def of(printed: dict[str, str], line: str) -> str:
    return next(output for command, output in printed.items() if command.startswith(line))


def tiers(text: str) -> dict[str, dict[str, Any]]:
    return {row["tier"]: row for row in json.loads(text)["tiers"]}


# -- the first study


def test_every_line_was_run(printed: dict[str, str]) -> None:
    assert len(printed) == 20


def test_the_corpus_has_the_published_size(printed: dict[str, str]) -> None:
    (log,) = (json.loads(fcpair("log", "--format", "json")),)
    counts = {run["stage"]: run["counts"] for run in log if run["stage"] in {"import", "select", "retrieve"}}
    assert counts["import"] == {"rows": 3864, "hs": 408, "cn": 1270, "other_languages": 11124}
    assert counts["select"] == {"hs": 45, "source_cns": 375}
    assert counts["retrieve"]["candidates"] == 133


def test_the_run_keeps_the_digest_of_the_weights(printed: dict[str, str]) -> None:
    runs = json.loads(fcpair("log", "--format", "json"))
    (model,) = (run["model"] for run in runs if run["stage"] == "retrieve")
    assert (model["name"], model["sha256"]) == ("all-MiniLM-L6-v2", WEIGHTS)


def test_the_candidates_contain_those_of_the_published_bronze(printed: dict[str, str], data: Path) -> None:
    from fcpair.stages.corpus.text_identity import digest
    from fcpair.store.corpus import texts
    from fcpair.study import Study

    with Study("s.db")._store.read() as tx:
        candidates = set(sides.text_ids(tx, "column"))
        ids = texts.text_ids(tx, "cn")
    with (data / "fc-conan" / "bronze_partition_df.csv").open(encoding="utf-8", newline="") as file:
        published = {ids[digest(row["counternarrative"])] for row in csv.DictReader(file)}
    assert len(published) == 130
    assert published <= candidates


def test_the_grid_is_45_by_129_and_dealt_evenly(printed: dict[str, str]) -> None:
    state = json.loads(of(printed, "fcpair status"))
    assert state["stages"]["pair"] == 5805
    assert state["overlap"] == {"1": 5805 - 731 - 290, "2": 731, "3": 290}
    loads = [row["open"] for row in state["people"]]
    assert len(loads) == 9
    assert sum(loads) == 5805 + 731 + 2 * 290
    assert max(loads) - min(loads) <= 1


def test_the_sheets_hold_the_whole_deal(printed: dict[str, str]) -> None:
    with Path("labels.csv").open(encoding="utf-8", newline="") as file:
        given = Counter(row["annotator"] for row in csv.DictReader(file))
    state = json.loads(of(printed, "fcpair status"))
    assert given == {row["name"]: row["open"] for row in state["people"]}


def test_agreement_is_measured_on_the_overlap(printed: dict[str, str]) -> None:
    measured = json.loads(of(printed, "fcpair agreement"))
    assert 0 < measured["n_overlapped"] <= 731 + 290
    assert len(measured["subsets"]) == 36


def test_the_tiers_are_nested(printed: dict[str, str]) -> None:
    sizes = [tiers(of(printed, "fcpair partition --format"))[tier]["pairs"] for tier in TIERS]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > 1
    ids = [
        {row["pair"] for row in json.loads(fcpair("partition", "--tier", tier, "--format", "json"))} for tier in TIERS
    ]
    assert [len(one) for one in ids] == sizes
    assert all(inner <= outer for inner, outer in pairwise(ids))


def test_the_gold_file_holds_the_gold_pairs(printed: dict[str, str]) -> None:
    with Path("gold.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == tiers(of(printed, "fcpair partition --format"))["gold"]["pairs"] > 100
    assert {row["tier"] for row in rows} <= {"gold", "diamond"}


def test_a_pair_is_explained_with_what_brought_it_in(printed: dict[str, str]) -> None:
    told = of(printed, "fcpair explain")
    assert told.startswith("pair 17: ")
    assert "brought in: neighbour " in told


def test_the_report_is_written(printed: dict[str, str]) -> None:
    assert "5,805" in Path("report.html").read_text("utf-8")


# -- the published study


def test_the_published_tiers_have_the_published_sizes(printed: dict[str, str]) -> None:
    found = tiers(of(printed, "FCPAIR_STUDY=published.db fcpair partition"))
    assert [found[tier]["pairs"] for tier in TIERS] == [551, 663, 3580, 3997]
    assert [found[tier]["appropriate"] for tier in TIERS] == [35, 54, 431, 702]
    assert [[found[tier][f"{n} label{'s' * (n != '1')}"] for n in ("3+", "2", "1")] for tier in TIERS] == [
        [195, 356, 0],
        [195, 468, 0],
        [195, 468, 2917],
        [199, 502, 3296],
    ]


def test_a_unanimous_diamond_is_smaller(printed: dict[str, str]) -> None:
    found = tiers(fcpair("partition", "--format", "json", study="published.db"))
    assert [found[tier]["pairs"] for tier in TIERS] == [530, 663, 3580, 3997]


@pytest.mark.parametrize("tier", TIERS)
def test_each_tier_holds_the_published_pairs(printed: dict[str, str], data: Path, tier: str) -> None:
    words = ("partition", "--diamond", "majority", "--tier", tier, "--layout", "fc-conan")
    fcpair(*words, "--out", f"{tier}.csv", study="published.db")
    found = []
    for path in (Path(f"{tier}.csv"), data / "fc-conan" / f"{tier}_partition_df.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            found.append(sorted(int(row["original_index"]) for row in csv.DictReader(file)))
    assert found[0] == found[1]


def test_the_majority_makes_the_published_labels(printed: dict[str, str]) -> None:
    said = fcpair("adjudicate", "--policy", "majority", "--dry-run", study="published.db")
    assert "3,997 of 3,997 compared are the same" in said


def test_a_published_label_that_is_another_ends_the_dry_run_with_1(printed: dict[str, str]) -> None:
    Path("other.db").write_bytes(Path("published.db").read_bytes())
    kept = json.loads(fcpair("partition", "--tier", "diamond", "--format", "json", study="published.db"))[0]
    label = {"appropriate": "0", "not_appropriate": "2"}[kept["label"]]
    decided = write_csv(Path("decided.csv"), [{"pair": kept["pair"], "label": label}])
    fcpair("adjudicate", "--import", str(decided), "--supersede", study="other.db")
    said = fcpair("adjudicate", "--policy", "majority", "--dry-run", study="other.db", code=1)
    assert "3,996 of 3,997 compared are the same" in said


def test_the_published_kappa_of_columns_1_and_2(printed: dict[str, str]) -> None:
    measured = json.loads(fcpair("agreement", "--format", "json", study="published.db"))
    subsets = {tuple(one["annotators"]): one for one in measured["subsets"]}
    first = subsets["annotator-1", "annotator-2"]
    assert first["n"] == 701
    assert first["kappa"]["value"] == pytest.approx(0.377427, abs=5e-7)


def test_intervals_say_for_whom_they_speak(printed: dict[str, str]) -> None:
    found = fcpair("agreement", study="published.db")
    assert "95 % intervals for new HS and CN, the same annotators" in found
    assert "interval from 45 HS, 24 CN" in found
    assert "intervals for new HS and CN, the same two" in found


def test_the_pairs_of_fc_conan_are_not_independent(printed: dict[str, str]) -> None:
    """For columns 1 and 2 the formula of Fleiss, Cohen and Everitt, which takes them to be, has an error of 0.035."""
    measured = json.loads(fcpair("agreement", "--format", "json", study="published.db"))
    assert measured["subsets"][0]["kappa_se"] > 0.1
    assert all(figure["low"] is not None for figure in (*measured["pooled"], measured["summary"][0]))


# -- the example


def test_the_example_recipe_walks_to_the_end(tmp_path: Path) -> None:
    study = str(tmp_path / "demo.db")
    result = CliRunner().invoke(main, ["run", str(EXAMPLES / "recipe.toml"), "--study", study])
    assert result.exit_code == 0, result.output
    stages = [line.split(":")[0] for line in result.stdout.splitlines()]
    assert stages[:5] == ["import", "select", "retrieve", "pair", "assign"]
    assert stages[5:] == [
        "annotate",
        "simulate",
        "adjudicate",
        "validate",
        "simulate",
        "agreement",
        "partition",
        "evaluate",
        "next",
    ]
    assert "SIMULATED" in result.stderr
    sizes = [tiers(fcpair("partition", "--format", "json", study=study))[tier]["pairs"] for tier in TIERS]
    assert sizes == sorted(sizes)
    assert sizes[0] > 0
    again = CliRunner().invoke(main, ["run", str(EXAMPLES / "recipe.toml"), "--study", study])
    assert [line.split(":")[0] for line in again.stdout.splitlines()] == ["next"]


def test_the_recipe_of_fc_conan_makes_its_grid(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FCPAIR_DATA", str(data))
    study = str(tmp_path / "fc.db")
    fcpair("run", str(EXAMPLES / "fc-conan.toml"), study=study)
    state = json.loads(fcpair("status", "--format", "json", study=study))
    assert state["stages"]["pair"] == 5805
    assert state["overlap"] == {"1": 4784, "2": 731, "3": 290}
    assert state["rounds"]["label"]["open"] == 5805 + 731 + 2 * 290
