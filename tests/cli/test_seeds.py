"""Whatever draws by seed, draws over an order of its own: shuffled input gives the same figures and the same draw."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from steps.small import CNS, HS, NAMES, SELECTED, build_to, open_work, record, set_candidates, write_corpus, write_csv

from cli.test_commands import ALL, found
from fcpair.bias.items import expand
from fcpair.cli import main
from fcpair.files.release.tier import Kind
from fcpair.files.surveys.templates import read_templates
from fcpair.params import Adjudicate, Assign, Evaluate, Export, Import, Pair, Select, Setup, Validate
from fcpair.records import Role
from fcpair.stages.corpus.retrieve import draw_rows
from fcpair.stages.corpus.sample import own_order
from fcpair.steps.release.export import _test_side
from fcpair.store.corpus import cells, sides, texts
from fcpair.study import Study

EXAMPLES = Path(__file__).parents[2] / "examples"
PEOPLE, CHECKERS = ("ana", "ben", "cleo", "dia"), ("vera", "walt", "xan")

Draw = Callable[[Path, Random | None], Any]
"""What a command gives, in a folder of its own: as it is, or with its input shuffled."""


def shuffled(items: Sequence[Any], random: Random | None) -> list[Any]:
    return list(items) if random is None else random.sample(list(items), len(items))


def printed(table: str, command: str) -> Draw:
    """What a command prints of an example table, whose rows are shuffled."""

    def draw(folder: Path, random: Random | None) -> Any:
        with (EXAMPLES / table).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        path = write_csv(folder / table, shuffled(rows, random))
        words = [str(path) if word == "TABLE" else word for word in command.split()]
        result = CliRunner().invoke(main, [*words, "--format", "json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout.replace(str(folder), ""))

    return draw


def imported(folder: Path, random: Random | None) -> Study:
    """A study of the small corpus, whose rows are shuffled."""
    with write_corpus(folder / "corpus.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    study = Study.create(folder / "study.db", Setup(title="Small"))
    study.import_corpus(Import(write_csv(folder / "corpus.csv", shuffled(rows, random)), only_language="en"))
    return study


def texts_of(study: Study) -> dict[int, tuple[str, str]]:
    with study._store.read() as tx:
        bodies, pairs = texts.bodies(tx, ("hs", "cn")), cells.cells(tx)
    rows = pairs[["cell_id", "hs_id", "cn_id"]].to_numpy().tolist()
    return {pair: (bodies[hs], bodies[cn]) for pair, hs, cn in rows}


def selected(folder: Path, random: Random | None) -> Any:
    study = imported(folder, random)
    drawn: list[set[str]] = []
    for options in (Select(hs=3, seed=5), Select(hs=4, stratify="hs_topic", seed=5)):
        study.grid().select(options, redo=bool(drawn))
        with study._store.read() as tx:
            drawn.append({body for _, body in sides.bodies(tx, "row")})
    return drawn


def paired(folder: Path, random: Random | None) -> Any:
    study = imported(folder, random)
    study.grid().select(Select(hs_list=write_csv(folder / "hs.csv", [{"hs": hs} for hs in SELECTED])))
    set_candidates(study, CNS[12:])
    drawn: list[set[tuple[str, str]]] = []
    for options in (Pair(candidates=3, seed=5), Pair(sample=9, seed=5)):
        study.grid().pair(options, redo=bool(drawn))
        drawn.append(set(texts_of(study).values()))
    return drawn


def extended(folder: Path, random: Random | None) -> Any:
    """The pairs that an extension draws, where all HS but the selected ones are left."""
    study = imported(folder, random)
    study.grid().select(Select(hs_list=write_csv(folder / "hs.csv", [{"hs": hs} for hs in SELECTED])))
    set_candidates(study, CNS[12:])
    study.grid().pair(Pair(sample=9, seed=5))
    study.grid().extend(hs=1, sample=3, seed=5)
    return set(texts_of(study).values())


def judged(folder: Path, random: Random | None) -> Study:
    """A tier whose labels depend on the texts alone."""
    study = imported(folder, random)
    grid = study.grid()
    grid.select(Select(hs_list=write_csv(folder / "hs.csv", [{"hs": hs} for hs in HS])))
    set_candidates(study, CNS)
    grid.pair(Pair())
    study.add_people(["ana"], Role.ANNOTATOR)
    grid.assign(Assign())
    right = {pair: (HS.index(hs) + CNS.index(cn)) % 3 for pair, (hs, cn) in texts_of(study).items()}
    labels = [{"pair": pair, "label": NAMES[2 * bool(one)], "annotator": "ana"} for pair, one in right.items()]
    grid.import_labels(write_csv(folder / "labels.csv", labels))
    grid.adjudicate(Adjudicate("majority"))
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    verdicts = [{"pair": at, "validator": "vera", "verdict": "agree"} for at in right]
    grid.import_verdicts(write_csv(folder / "verdicts.csv", verdicts))
    return study


def evaluated(folder: Path, random: Random | None) -> Any:
    options = Evaluate(systems=("random", "random(seed=2)"), tiers=("bronze",), cutoff=3, seed=4)
    outcome = judged(folder, random).grid().evaluate(options)
    return outcome.to_frame().round(9).to_csv(), [one.p for one in outcome.comparisons]


def exported(kind: Kind) -> Draw:
    def draw(folder: Path, random: Random | None) -> Any:
        exports = judged(folder, random).grid().export
        exports.training(kind, folder / "out", "bronze", Export(test_share=0.5, negatives=1, seed=6))
        return {path.name: sorted(path.read_text("utf-8").splitlines()) for path in (folder / "out").glob("*.jsonl")}

    return draw


def texts_exported(_: Path, random: Random | None) -> Any:
    at = shuffled(range(60), random)
    rows = pd.DataFrame({"hs": [f"text {one % 20}" for one in at], "types": [f"{one % 3}; {one % 7}" for one in at]})
    return dict(zip(at, _test_side(rows, Export(test_share=0.4, seed=2)).tolist(), strict=True))


def dealt(folder: Path, random: Random | None) -> Study:
    """The paired small study, whose people were added in another order, and dealt."""
    study = build_to("paired", Study.create(folder / "study.db", Setup(title="Small")), folder)
    study.add_people(shuffled(PEOPLE, random), Role.ANNOTATOR)
    study.add_people(shuffled(CHECKERS, random), Role.VALIDATOR)
    study.grid().assign(Assign(overlap={2: 0.25, 3: 0.25}, seed=1))
    return study


def work_of(study: Study) -> set[tuple[str, int]]:
    return set(open_work(study)) | set(open_work(study, checks=True))


def after(act: Callable[[Study], object]) -> Draw:
    def draw(folder: Path, random: Random | None) -> Any:
        act(study := dealt(folder, random))
        return work_of(study)

    return draw


def dismissed(folder: Path, random: Random | None) -> Any:
    answer(study := dealt(folder, random), folder)
    study.dismiss("cleo")
    return work_of(study)


def validated(folder: Path, random: Random | None) -> Any:
    answer(study := dealt(folder, random), folder)
    study.grid().adjudicate(Adjudicate("majority"))
    study.grid().assign_validation(Validate(pairs=9, seed=2))
    return work_of(study)


def answer(study: Study, folder: Path) -> None:
    record(study, folder, [(who, pair, NAMES[(len(who) * pair) % 5 // 2]) for who, pair in open_work(study)])


def modelled(folder: Path, random: Random | None) -> Any:
    answer(study := dealt(folder, random), folder)
    return study.grid().aggregate(["mace", "dawid-skene"], seed=3).to_frame().round(9).to_dict("records")


def grouped(folder: Path, random: Random | None) -> Any:
    """Two groups of thirty; p is 0.037 from 10,000 random ways."""
    rng = np.random.default_rng(1)
    rows = [
        {"item": item, "by": f"p{who}", "label": "ny"[int(rng.random() < 0.5 + 0.04 * (who % 2))], "group": who % 2}
        for who in range(60)
        for item in range(20)
    ]
    path = write_csv(folder / "labels.csv", shuffled(rows, random))
    words = ["groups", str(path), "--item", "item", "--annotator", "by", "--labels", "label", "--by", "group"]
    result = CliRunner().invoke(main, [*words, "--format", "csv"])
    assert result.exit_code == 0, result.output
    return pd.read_csv(StringIO(result.stdout)).round(9).to_csv()


def expanded(folder: Path, random: Random | None) -> Any:
    templates, _ = read_templates(EXAMPLES / "survey-templates.toml", "fcpair")
    return set(expand(shuffled(templates, random), "t", seed=3).frame.itertuples(index=False, name=None))


def collected(_: Path, random: Random | None) -> Any:
    """What a source of a planned side draws."""
    order = shuffled(range(40), random)
    drawn = draw_rows([str(at % 4) for at in order], own_order(order), {}, 3, 8, 2)
    return {at for at, is_in in zip(order, drawn.tolist(), strict=True) if is_in}


CASES: dict[tuple[str, ...], Draw] = {
    ("select",): selected,
    ("pair",): paired,
    ("extend",): extended,
    ("assign",): lambda folder, random: work_of(dealt(folder, random)),
    ("people", "retire"): after(lambda study: study.retire("cleo")),
    ("people", "dismiss"): dismissed,
    ("people", "handover"): after(lambda study: study.hand_over("cleo")),
    ("validate", "assign"): validated,
    ("aggregate",): modelled,
    ("evaluate",): evaluated,
    ("export", "pairs"): exported("pairs"),
    ("export", "preferences"): exported("preferences"),
    ("export", "triplets"): exported("triplets"),
    ("export", "texts"): texts_exported,
    ("groups",): grouped,
    ("items", "expand"): expanded,
    ("correlate",): printed("rated.csv", "correlate TABLE --score score --rating fluency --text text --rater rater"),
    ("ratings",): printed("rated.csv", "ratings TABLE --rating fluency --source source --rater rater --text text"),
    ("classify",): printed("types.csv", "classify TABLE --truth type --predicted guessed --ignore irony"),
    ("describe",): printed("written.csv", "describe TABLE --text cn --labels type --sample 8 --seed 3"),
    ("measure",): printed("corpus.csv", "measure TABLE --text cn --measure dist-2 --sample 40 --seed 3"),
    ("split",): printed("written.csv", "split TABLE --cluster hs --labels type --share 0.6 --seed 13"),
    ("the sources of a side",): collected,
}
BY_NUMBER = {
    ("simulate",): "answers are drawn for the numbers of pairs and people, which a study keeps",
    ("calibrate", "start"): "pairs are drawn by their numbers",
    ("people", "qualify"): "known pairs are drawn by their numbers, for the number of a person",
    ("people", "controls"): "known pairs are drawn by their numbers, for the number of a person",
    ("ask", "import"): "the seed is kept with the round, which deals cells by their numbers",
    ("release",): "pseudonyms are drawn for the number of a person, and are nobody's figure",
}


@pytest.mark.parametrize("command", CASES, ids=" ".join)
def test_shuffled_input_gives_the_same(command: tuple[str, ...], tmp_path: Path) -> None:
    for name in ("given", "other"):
        (tmp_path / name).mkdir()
    assert CASES[command](tmp_path / "other", Random(5)) == CASES[command](tmp_path / "given", None)


def test_every_command_with_a_seed_is_here() -> None:
    with_seed = {one for one in ALL if any(option.name == "seed" for option in found(one).params)}
    assert with_seed == {one for one in CASES if one in set(ALL)} | set(BY_NUMBER)
    assert not set(CASES) & set(BY_NUMBER)
