"""`fcpair describe` and `fcpair split` on plain files and on a round, without touching either."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Fcpair
from fcpair.files.tables.tabular import read_table

ROWS = [
    "hs,cn,kind,target",
    "They park badly.,Who says so?,question,cyclists",
    "They are late.,Come and have tea.,Kind; joke,drinkers",
    'They park badly.,"Ask one, please.","kind,question",drinkers',
    "They never wave.,Wave first!,jok,cyclists",
]
DECLARED = ("--labels", "kind", "--label", "Question", "--label", "Kind", "--label", "Joke")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(ROWS) + "\n", "utf-8")
    return path


def test_describe_prints_the_figures_of_a_file(fcpair: Fcpair, table: Path) -> None:
    out = fcpair("describe", table, "--text", "cn", "--row", "hs", "--labels", "kind", "--format", "csv").stdout
    assert "texts,all,,4,,4,,," in out.splitlines()
    assert "rows,all,,3,,4,,," in out.splitlines()
    assert "mean words,all,,3.0,3.00,4,,," in out.splitlines()


def test_describe_in_json_holds_all_that_the_tables_show(fcpair: Fcpair, table: Path) -> None:
    told = fcpair("describe", table, "--text", "cn", "--row", "hs", "--group", "target", "--format", "json")
    found = json.loads(told.stdout)
    assert found["shared"] == [{"row": "They park badly.", "groups": ["cyclists", "drinkers"], "lines": [2, 4]}]
    assert {"figures", "repeated", "keywords", "place", "simulated"} < set(found)


def test_a_row_in_two_groups_is_a_warning(fcpair: Fcpair, table: Path) -> None:
    told = fcpair("describe", table, "--text", "cn", "--row", "hs", "--group", "target")
    assert f"Warning: {table}:2, 4: the same row is in 2 groups: cyclists, drinkers." in told.stderr


def test_a_misspelt_label_is_refused_with_its_line(fcpair: Fcpair, table: Path) -> None:
    told = fcpair("describe", table, "--text", "cn", *DECLARED, code=2)
    assert f"{table}:5: unknown label `jok`; did you mean `Joke`?" in told.stderr


def test_aliases_are_written_and_used(fcpair: Fcpair, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "aliases.csv"
    told = fcpair("describe", table, "--text", "cn", *DECLARED, "--write-aliases", path)
    assert "5 spellings. Check each label" in told.stderr
    written = read_table(path)
    assert dict(zip(written["spelling"], written["label"], strict=True))["jok"] == "Joke"
    used = fcpair(
        "describe", table, "--text", "cn", "--labels", "kind", "--aliases", path, "--keywords", "0", "--format", "csv"
    )
    assert "texts,label,Joke,2,,4,,," in used.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--text", "targt"], "no column `targt`; did you mean `target`?"),
        (["--text", "cn", "--row", "HSS"], "no column `HSS`; did you mean `hs`?"),
        (["--text", "cn", "--label", "Joke"], "--label has no effect without --labels"),
        (["--text", "cn", "--labels", "kind", "--write-aliases", "a.csv"], "each label with --label"),
        (["--text", "cn", "--aliases", "none.csv", "--labels", "kind"], "none.csv: there is no such file"),
        (["--text", "cn", "--reader", "crowdcounter"], "not JSON"),
        (["--text", "cn", "--by", "target"], "--by has no effect without --labels"),
        (["--text", "cn", "--labels", "kind", "--by", "targt"], "no column `targt`; did you mean `target`?"),
        (["--text", "cn", "--where", "target=walkers"], "no line has target=walkers"),
        (["--text", "cn", "--sample", "5"], "5 lines cannot be drawn of 4"),
    ],
)
def test_what_cannot_be_described_ends_with_2(fcpair: Fcpair, table: Path, words: list[str], said: str) -> None:
    assert said in fcpair("describe", table, *words, code=2).stderr


def test_printed_figures_that_come_out_end_with_0_and_others_with_1(
    fcpair: Fcpair, table: Path, tmp_path: Path
) -> None:
    printed = tmp_path / "printed.csv"
    words = ("describe", table, "--text", "cn", "--check-printed", printed)
    printed.write_text("figure,printed\nmean words,3.00\n", "utf-8")
    assert "0 of 1 printed figures do not match" in fcpair(*words).stdout
    printed.write_text("figure,printed\nmean words,3.10\n", "utf-8")
    checked = json.loads(fcpair(*words, "--format", "json", code=1).stdout)["checked"]
    assert [(one["told"], one["comes_out"]) for one in checked] == [
        ("does not match: 3.00; impossible: no 4 whole numbers have this mean (GRIM)", False)
    ]


def test_a_round_of_a_study_is_described_and_split(fcpair: Fcpair, at: Callable[[str], Path]) -> None:
    at("labelled")
    found = json.loads(fcpair("describe", "--text", "label", "--writer", "by", "--format", "json").stdout)
    halves = json.loads(
        fcpair("split", "--cluster", "row", "--labels", "label", "--share", "0.5", "--format", "json").stdout
    )
    n = next(one["value"] for one in found["figures"] if one["figure"] == "texts")
    assert n == sum(side["lines"] for side in halves["sides"]) > 0


def test_labels_of_several_columns_are_counted_by_group_in_one_table(fcpair: Fcpair, table: Path) -> None:
    words = ("describe", table, "--text", "cn", "--labels", "kind", "--by", "target", "--keywords", "0")
    shown = " ".join(fcpair(*words).stdout.split())
    assert "kind by target: texts" in shown
    assert "drinkers 2 2 0 1 1" in shown  # of, Kind, jok, joke, question
    found = json.loads(fcpair(*words, "--labels", "target", "--format", "json").stdout)["figures"]
    assert {one["of"]: one["value"] for one in found if one["per"] == "label by group" and one["figure"] == "texts"}[
        "target: cyclists x cyclists"
    ] == 2


def test_table_10_comes_out_in_one_command_as_a_table(fcpair: Fcpair, data: Path) -> None:
    released = data / "crowdcounter" / "Final_Dataset_additional_context.json"
    words = ("--reader", "crowdcounter", "--text", "cn", "--labels", "types", "--by", "targets", "--keywords", "0")
    shown = fcpair("describe", released, *words).stdout
    assert "African 1,234 242 258 244 311 283 358" in " ".join(shown.split())
    assert "con: contradiction" in shown
    assert max(map(len, shown.split("types by targets: texts")[1].splitlines()[:20])) <= 80


def test_lists_in_json_cells_are_read_as_classify_reads_them(fcpair: Fcpair, tmp_path: Path) -> None:
    path = tmp_path / "lists.csv"
    path.write_text('cn,kind\nTea?,"[""facts"", ""humour""]"\nBread.,facts\n', "utf-8")
    told = fcpair("describe", path, "--text", "cn", "--labels", "kind", "--keywords", "0", "--format", "json")
    figures = json.loads(told.stdout)["figures"]
    assert {one["of"]: one["value"] for one in figures if (one["figure"], one["per"]) == ("texts", "label")} == {
        "facts": 2,
        "humour": 1,
    }


@pytest.mark.parametrize(
    "words",
    [
        ("describe", "--text", "cn"),
        ("measure", "--text", "cn", "--measure", "dist-1"),
        ("classify", "--truth", "kind", "--predicted", "kind", "--resamples", "100"),
        ("split", "--cluster", "hs", "--labels", "kind", "--share", "0.5"),
    ],
    ids=lambda words: words[0],
)
def test_a_part_of_the_lines_can_be_asked_for_and_a_sample_of_it_drawn(
    fcpair: Fcpair, table: Path, words: tuple[str, ...]
) -> None:
    part = "2 drawn by seed 6 from 3 of 4 lines with kind!=jok"
    told = fcpair(
        words[0], table, *words[1:], "--where", "kind!=jok", "--sample", "2", "--seed", "6", "--format", "json"
    )
    assert json.loads(told.stdout)["part"] == part
    assert f"{table}, {part}." in told.stderr


# -- split


def test_split_writes_the_table_with_the_side_of_each_line(fcpair: Fcpair, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "split.csv"
    told = fcpair(
        "split", table, "--cluster", "hs", "--labels", "kind", "--share", "0.5", "--out", out, "--format", "json"
    )
    found = json.loads(told.stdout)
    written = read_table(out)
    assert list(written["cn"]) == list(read_table(table)["cn"])
    sides = dict.fromkeys(zip(written["hs"], written["split"], strict=True))
    assert len(sides) == 3
    counts = {side["split"]: side["lines"] for side in found["sides"]}
    assert counts == {"train": 2, "test": 2} == {name: list(written["split"]).count(name) for name in counts}


def test_split_says_why_its_label_distance_is_undefined(fcpair: Fcpair, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("hs,kind\na,x\nb,x\n", "utf-8")
    told = fcpair("split", path, "--cluster", "hs", "--labels", "kind", "--share", "0.5", "--format", "json")
    found = json.loads(told.stdout)
    assert (found["label_distance"], found["why"]) == (None, "there is no label, or all lines of a side have one")


def test_the_same_seed_prints_the_same_bytes(fcpair: Fcpair, table: Path) -> None:
    words = ("split", table, "--cluster", "cn", "--labels", "kind", "--share", "0.5", "--seed", "3", "--format", "csv")
    assert fcpair(*words).stdout_bytes == fcpair(*words).stdout_bytes


@pytest.mark.parametrize(
    ("share", "names"), [(["0.5"], ["train", "test"]), (["0.5", "0.25"], ["train", "validation", "test"])]
)
def test_two_sides_are_train_and_test_and_three_have_validation_between(
    fcpair: Fcpair, table: Path, share: list[str], names: list[str]
) -> None:
    words = [word for one in share for word in ("--share", one)]
    told = fcpair("split", table, "--cluster", "cn", "--labels", "kind", *words, "--format", "json")
    assert [side["split"] for side in json.loads(told.stdout)["sides"]] == names


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cluster", "hs", "--labels", "kind", "--share", "1.5"], "shares 1.5: expected numbers above 0"),
        (["--cluster", "hs", "--labels", "kind", "--share", "nan"], "shares nan: expected numbers above 0"),
        (["--cluster", "h", "--labels", "kind", "--share", "0.5"], "no column `h`; did you mean `hs`?"),
        (
            ["--cluster", "target", "--labels", "kind", "--share", "0.5", "--share", "0.3"],
            "2 groups cannot be split into 3",
        ),
        (["--cluster", "hs", *DECLARED, "--share", "0.5"], "unknown label `jok`"),
    ],
)
def test_what_cannot_be_split_ends_with_2(fcpair: Fcpair, table: Path, words: list[str], said: str) -> None:
    assert said in fcpair("split", table, *words, code=2).stderr


def test_a_line_without_a_group_is_a_finding(fcpair: Fcpair, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("hs,kind\na,x\n ,x\nb,y\n", "utf-8")
    told = fcpair("split", path, "--cluster", "hs", "--labels", "kind", "--share", "0.5", code=2)
    assert f"{path}:3: no `hs`, which says what stays together" in told.stderr


def test_a_table_that_has_a_column_split_is_not_written_over(fcpair: Fcpair, tmp_path: Path) -> None:
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    path.write_text("hs,kind,split\na,x,1\nb,y,2\n", "utf-8")
    words = ("split", path, "--cluster", "hs", "--labels", "kind", "--share", "0.5", "--out", out)
    assert "there is already a column `split`" in fcpair(*words, code=2).stderr
    assert not out.exists()
