"""`describe`, `split`, `measure` and `classify` on plain files and on a round, without touching either."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from models.test_multilabel import NAMES, named

from cli.conftest import At, Fcpair, rows_of
from fcpair.files.tables.tabular import read_table

ROOT = Path(__file__).parents[2]
ROWS = """hs,cn,kind,target
They park badly.,Who says so?,question,cyclists
They are late.,Come and have tea.,Kind; joke,drinkers
They park badly.,"Ask one, please.","kind,question",drinkers
They never wave.,Wave first!,jok,cyclists
"""
DECLARED = ("--labels", "kind", "--label", "Question", "--label", "Kind", "--label", "Joke")
HALVES = ("--labels", "kind", "--share", "0.5")
# What follows the name of the command and of the table, and what is said of it.
REFUSED = {
    "describe": [
        ("--text targt", "no column `targt`; did you mean `target`?"),
        ("--text cn --row HSS", "no column `HSS`; did you mean `hs`?"),
        ("--text cn --label Joke", "--label has no effect without --labels"),
        ("--text cn --labels kind --write-aliases a.csv", "each label with --label"),
        ("--text cn --aliases none.csv --labels kind", "none.csv: there is no such file"),
        ("--text cn --reader crowdcounter", "not JSON"),
        ("--text cn --by target", "--by has no effect without --labels"),
        ("--text cn --labels kind --by targt", "no column `targt`; did you mean `target`?"),
        ("--text cn --where target=walkers", "no line has target=walkers"),
        ("--text cn --sample 5", "5 lines cannot be drawn of 4"),
        (f"--text cn {' '.join(DECLARED)}", "answers.csv:5: unknown label `jok`; did you mean `Joke`?"),
    ],
    "split": [
        ("--cluster hs --labels kind --share 1.5", "shares 1.5: expected numbers above 0"),
        ("--cluster hs --labels kind --share nan", "shares nan: expected numbers above 0"),
        ("--cluster h --labels kind --share 0.5", "no column `h`; did you mean `hs`?"),
        ("--cluster target --labels kind --share 0.5 --share 0.3", "2 groups cannot be split into 3"),
        (f"--cluster hs {' '.join(DECLARED)} --share 0.5", "unknown label `jok`"),
    ],
    "measure": [
        ("--text cnn --measure dist-1", "there is no column `cnn`; did you mean `cn`?"),
        ("--text cn --by kin --measure dist-1", "did you mean `kind`?"),
        ("--text cn --measure dits-1", "did you mean `dist`?"),
        ("--text cn --measure gleu", "name the columns that hold them"),
        ("--text cn --reference cn --measure gleu", "its own reference"),
        ("--text cn --measure fk", "no language was given"),
        ("--text cn --measure dist-1 --each x.txt", "expected a name that ends in .csv"),
        ("--text cn --measure dist-1 --each x.csv", "no measure here gives a figure for each text"),
    ],
    "classify": [
        *(
            (f"--truth kind {words}", "give either --predicted COLUMN, or --classifier NAME and --text COLUMN")
            for words in ("", "--predicted kind --classifier x --text cn", "--classifier x")
        ),
        ("--truth kind --predicted guess", "missing column `guess`; found hs, cn, kind, target"),
    ],
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return written(tmp_path / "answers.csv", ROWS)


def written(path: Path, content: str) -> Path:
    path.write_text(content, "utf-8")
    return path


@pytest.mark.parametrize("command", REFUSED)
def test_what_is_wrong_ends_with_2_and_writes_nothing(fcpair: Fcpair, table: Path, here: Path, command: str) -> None:
    for words, message in REFUSED[command]:
        assert message in fcpair.refusal(command, table, *words.split())
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ("describe", "--text", "cn"),
        ("measure", "--text", "cn", "--measure", "dist-1"),
        ("classify", "--truth", "kind", "--predicted", "kind", "--resamples", "100"),
        ("split", "--cluster", "hs", *HALVES),
    ],
    ids=lambda words: words[0],
)
def test_a_sample_of_a_part_of_the_lines_can_be_drawn(fcpair: Fcpair, table: Path, words: tuple[str, ...]) -> None:
    part = "2 drawn by seed 6 from 3 of 4 lines with kind!=jok"
    drawn = ("--where", "kind!=jok", "--sample", "2", "--seed", "6", "--format", "json")
    result = fcpair(words[0], table, *words[1:], *drawn)
    assert json.loads(result.stdout)["part"] == part
    assert f"{table}, {part}." in result.stderr


# -- describe


def test_describe_prints_the_figures_of_a_file(fcpair: Fcpair, table: Path) -> None:
    words = ("describe", table, "--text", "cn", "--row", "hs")
    lines = fcpair(*words, "--labels", "kind", "--format", "csv").stdout.splitlines()
    assert {"texts,all,,4,,4,,,", "rows,all,,3,,4,,,", "mean words,all,,3.0,3.00,4,,,"} <= {*lines}
    grouped = fcpair(*words, "--group", "target", "--format", "json")
    found = json.loads(grouped.stdout)
    assert found["shared"] == [{"row": "They park badly.", "groups": ["cyclists", "drinkers"], "lines": [2, 4]}]
    assert {"figures", "repeated", "keywords", "place", "simulated"} < set(found)
    warning = f"Warning: {table}:2, 4: the same row is in 2 groups: cyclists, drinkers."
    assert warning in fcpair(*words, "--group", "target").stderr


def test_aliases_are_written_and_used(fcpair: Fcpair, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "aliases.csv"
    words = ("describe", table, "--text", "cn")
    assert "5 spellings. Check each label" in fcpair(*words, *DECLARED, "--write-aliases", path).stderr
    aliases = read_table(path)
    assert dict(zip(aliases["spelling"], aliases["label"], strict=True))["jok"] == "Joke"
    used = fcpair(*words, "--labels", "kind", "--aliases", path, "--keywords", "0", "--format", "csv").stdout
    assert "texts,label,Joke,2,,4,,," in used.splitlines()


def test_printed_figures_that_do_not_come_out_end_with_1(fcpair: Fcpair, table: Path, tmp_path: Path) -> None:
    printed = written(tmp_path / "printed.csv", "figure,printed\nmean words,3.00\n")
    words = ("describe", table, "--text", "cn", "--check-printed", printed)
    assert "0 of 1 printed figures do not match" in fcpair(*words).stdout
    written(printed, "figure,printed\nmean words,3.10\n")
    assert [(one["told"], one["comes_out"]) for one in fcpair.json(*words, code=1)["checked"]] == [
        ("does not match: 3.00; impossible: no 4 whole numbers have this mean (GRIM)", False)
    ]


def test_labels_of_columns_and_of_lists_are_counted_by_group(fcpair: Fcpair, table: Path, tmp_path: Path) -> None:
    words = ("describe", table, "--text", "cn", "--labels", "kind", "--by", "target", "--keywords", "0")
    printed = fcpair.line(*words)
    assert "kind by target: texts" in printed
    assert "drinkers 2 2 0 1 1" in printed  # of, Kind, jok, joke, question
    figures = fcpair.json(*words, "--labels", "target")["figures"]
    texts = {(one["per"], one["of"]): one["value"] for one in figures if one["figure"] == "texts"}
    assert texts["label by group", "target: cyclists x cyclists"] == 2
    path = written(tmp_path / "lists.csv", 'cn,kind\nTea?,"[""facts"", ""humour""]"\nBread.,facts\n')
    figures = fcpair.json("describe", path, "--text", "cn", "--labels", "kind", "--keywords", "0")["figures"]
    labels = {one["of"]: one["value"] for one in figures if (one["figure"], one["per"]) == ("texts", "label")}
    assert labels == {"facts": 2, "humour": 1}


def test_table_10_comes_out_in_one_command_as_a_table(fcpair: Fcpair, data: Path) -> None:
    released = data / "crowdcounter" / "Final_Dataset_additional_context.json"
    words = ("--reader", "crowdcounter", "--text", "cn", "--labels", "types", "--by", "targets", "--keywords", "0")
    printed = fcpair("describe", released, *words).stdout
    assert "African 1,234 242 258 244 311 283 358" in " ".join(printed.split())
    assert "con: contradiction" in printed
    assert max(map(len, printed.split("types by targets: texts")[1].splitlines()[:20])) <= 80


# -- split


def test_split_writes_the_table_with_the_side_of_each_line(fcpair: Fcpair, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "split.csv"
    found = fcpair.json("split", table, "--cluster", "hs", *HALVES, "--out", out)
    rows = read_table(out)
    assert list(rows["cn"]) == list(read_table(table)["cn"])
    assert len(dict.fromkeys(zip(rows["hs"], rows["split"], strict=True))) == 3
    counts = {side["split"]: side["lines"] for side in found["sides"]}
    assert counts == {"train": 2, "test": 2} == {name: list(rows["split"]).count(name) for name in counts}
    three = fcpair.json("split", table, "--cluster", "cn", *HALVES, "--share", "0.25")
    assert [side["split"] for side in three["sides"]] == ["train", "validation", "test"]
    drawn = ("split", table, "--cluster", "cn", *HALVES, "--seed", "3", "--format", "csv")
    assert fcpair(*drawn).stdout_bytes == fcpair(*drawn).stdout_bytes


def test_split_says_what_is_undefined_and_what_it_cannot_split(fcpair: Fcpair, tmp_path: Path) -> None:
    words = ("split", tmp_path / "t.csv", "--cluster", "hs", *HALVES)
    path = written(tmp_path / "t.csv", "hs,kind\na,x\nb,x\n")
    found = fcpair.json(*words)
    assert (found["label_distance"], found["why"]) == (None, "there is no label, or all lines of a side have one")
    written(path, "hs,kind\na,x\n ,x\nb,y\n")
    assert f"{path}:3: no `hs`, which says what stays together" in fcpair.refusal(*words)
    written(path, "hs,kind,split\na,x,1\nb,y,2\n")
    assert "there is already a column `split`" in fcpair.refusal(*words, "--out", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_round_of_a_study_is_described_and_split(fcpair: Fcpair, at: At) -> None:
    at("labelled")
    figures = fcpair.json("describe", "--text", "label", "--writer", "by")["figures"]
    halves = fcpair.json("split", "--cluster", "row", "--labels", "label", "--share", "0.5")
    (n,) = (one["value"] for one in figures if (one["figure"], one["per"]) == ("texts", "all"))
    assert n == sum(side["lines"] for side in halves["sides"]) > 0


# -- measure


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    lines = ["hs,cn,gold,kind", "x,We drink tea,We drink tea,facts", "x,We bake bread,Cats,humor", "y,,Tea,facts"]
    return written(tmp_path / "texts.csv", "\n".join(lines) + "\n")


def test_a_file_is_measured_without_a_study_and_figures_say_what_they_rest_on(fcpair: Fcpair, texts: Path) -> None:
    words = ("measure", texts, "--text", "cn", "--measure")
    found = fcpair.json(*words, "dist-2", "--measure", "ent-2")
    assert (found["place"], found["text"], found["n_texts"]) == (str(texts), "cn", 3)
    assert [(one["name"], one["value"], one["n"]) for one in found["figures"]] == [("dist-2", 1, 2), ("ent-2", 2, 2)]
    assert found["figures"][0]["left_out"] == {"it has fewer than 2 tokens": 1}
    printed = fcpair.line(*words, "dist-4", "--by", "hs")
    assert "column `cn`: 3 texts, language not given" in printed
    assert "dist-4: pooled" in printed
    assert "dist-4: undefined, because no text has 4 tokens; 3 texts are left out" in printed
    by_token = (*words, "dist-1", "--measure", "dist-1(tokens=char)")
    assert "dist-1: tokens=space dist-1(tokens=char): tokens=char" in fcpair.line(*by_token)
    assert [row["tokens"] for row in fcpair.csv(*by_token)] == ["space", "char"]


def test_groups_and_references_are_columns_and_texts_of_the_same_row_share_them(fcpair: Fcpair, texts: Path) -> None:
    words = ("measure", texts, "--text", "cn", "--reference", "gold", "--measure", "gleu")
    rows = fcpair.csv(*words, "--by", "kind")
    assert [(row["group"], row["n"]) for row in rows] == [("", "2"), ("facts", "1"), ("humor", "1")]
    assert float(rows[1]["value"]) == 1
    assert rows[1]["note"] == "1 text is left out, because it has no token"
    alone, shared = (fcpair.json(*words, *more)["figures"][0]["value"] for more in ((), ("--row", "hs")))
    assert shared > alone


def test_the_figures_of_each_text_are_written_beside_the_columns(fcpair: Fcpair, texts: Path, tmp_path: Path) -> None:
    each = ("--measure", "dist-1(per_text=true)", "--measure", "dist-2", "--each", tmp_path / "each.csv")
    fcpair("measure", texts, "--text", "cn", *each)
    rows = rows_of(tmp_path / "each.csv")
    assert list(rows[0]) == ["hs", "cn", "gold", "kind", "dist-1(per_text=true)"]
    assert [row.pop("dist-1(per_text=true)") for row in rows] == ["1.0", "1.0", ""]
    assert rows == rows_of(texts)


def test_the_texts_of_a_round_are_measured(fcpair: Fcpair, study: Path, walked: Callable[[str], Path]) -> None:
    shutil.copy(walked("write"), study)
    found = fcpair.json("measure", "--grid", "write", "--text", "text", "--measure", "dist-1")
    assert found["figures"][0]["n"] == found["n_texts"] > 0
    assert "SIMULATED" in found["simulated"]


# -- classify


@pytest.fixture
def types(tmp_path: Path) -> Path:
    lines = (
        "hs,reply,type,more,guessed",
        'h1,Tea is older than you think.,facts,,"facts; question"',
        "h1,Have you tried it?,question,humour,question",
        "h2,My cat agrees.,humour,,",
        'h2,It says so in the almanac.,facts,humour,"[""facts"", ""humour""]"',
    )
    return written(tmp_path / "types.csv", "\n".join(lines) + "\n")


def test_classified_rows_are_counted_and_scored_in_every_format(types: Path, fcpair: Fcpair) -> None:
    """Accuracy (1/2 + 1/2 + 0 + 1) / 4, precision (1/2 + 1 + 0 + 1) / 4, recall (1 + 1/2 + 0 + 1) / 4."""
    printed = fcpair.line("classify", types, "--truth", "type", "--truth", "more", "--predicted", "guessed")
    assert "Classified: 4 rows, 3 labels 1 row without a prediction, 0 without a true label" in printed
    assert "accuracy 4 0.5000" in printed
    assert "precision 4 0.6250" in printed
    assert "1 row without a prediction count 0" in printed
    assert "scikit-learn's averages, with zero_division=nan" in printed
    assert "humour 3 1 1.0000 0.3333 0.5000" in printed
    words = ("classify", types, "--truth", "type", "--predicted", "guessed")
    grouped = (*words, "--by", "hs", "--resamples", "200")
    found = fcpair.json(*grouped)["classified"]
    assert [(one["of"], one["n"]) for one in found] == [(None, 4), ("h1", 2), ("h2", 2)]
    first = found[1]["figures"][0]
    row = next(row for row in fcpair.csv(*grouped) if (row["of"], row["figure"]) == ("h1", first["name"]))
    assert float(row["value"]) == pytest.approx(first["value"])
    refused = fcpair.refusal(*words, "--label", "facts", "--label", "humour")
    assert f"{types}:2: `guessed`: `question` is not a label" in refused
    assert f"{types}:3: `type`: `question` is not a label" in refused
    ignoring = ("--ignore", "facts", "--ignore", "question")
    printed = fcpair("classify", types, "--truth", "more", "--predicted", "guessed", *ignoring).stdout
    assert "4 rows, 1 label, 4 predicted labels ignored" in printed


@pytest.mark.slow
@pytest.mark.torch
def test_a_model_on_this_machine_predicts(types: Path, tmp_path: Path, fcpair: Fcpair) -> None:
    named(tmp_path / "tiny")
    words = ("classify", types, "--truth", "type", "--classifier", tmp_path / "tiny", "--text", "reply")
    (found,) = fcpair.json(*words)["classified"]
    assert found["labels"] == sorted(NAMES)
    assert sum(one["n_predicted"] for one in found["per_label"]) > 0
    (few,) = fcpair.json(*words, "--threshold", "0.999")["classified"]
    assert few["n_no_prediction"] == 4
