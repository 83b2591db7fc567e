"""Every stage that writes, as one does it: a command line, or a call of the library where there is no command.

The stages stand in the order of the road; each begins with the study that those before it have made. What is not on
the road is tried on a copy at that place. Some begin with a study of their own.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fcpair.errors import FcpairError

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
OLDER = ROOT / "tests" / "assets" / "0005.sqlite"
TOPICS = ("cyclists", "night owls", "left-handers", "pineapple", "tea", "cats")
PEOPLE = ("ana", "ben", "cleo")
SPLIT = ("--into", "kind+", "--into", "factual+")
Do = Callable[[str, Path], object]
"""What is done in the child: the study's place, and a folder with files of this stage."""


@dataclass(frozen=True)
class Stage:
    """One thing to do; `ready` writes the files that it reads, and `base` is where its study comes from."""

    name: str
    do: Do
    ready: Do | None = None
    on_road: bool = True
    base: str = "road"  # or `nothing`, `older`, or one of BASES


def command(*line: str) -> Do:
    """A command line; `FOLDER` stands for the folder."""

    def do(place: str, folder: Path) -> None:
        from fcpair.cli import main

        main([*(part.replace("FOLDER", str(folder)) for part in line), "--study", place])

    return do


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_corpus(_place: str, folder: Path) -> None:
    """Six HS with three CNs each."""
    rows = [
        {"hs": f"People who like {one} cannot be trusted.", "cn": f"{word} {one}: I met three.", "hs_topic": one}
        for one in TOPICS
        for word in ("About", "Ask", "Know")
    ]
    _write(folder / "corpus.csv", rows)


def _open(place: str) -> Any:
    from fcpair.study import Study

    return Study(place)


def _open_work(place: str, *, checks: bool) -> Iterator[tuple[str, int]]:
    from fcpair.store.assignment import assignments, rounds

    study = _open(place)
    with study._store.read() as tx:
        rows = assignments.open_work(tx, rounds.validation(tx) if checks else rounds.primary(tx))
    study.close()
    yield from zip(rows["annotator"].tolist(), rows["cell_id"].tolist(), strict=True)


def _label(pair: int, annotator: str) -> str:
    if annotator == "ben" and pair % 5 == 0:
        return "not_sure"
    return "appropriate" if pair % 2 or (annotator == "cleo" and pair % 3 == 0) else "not_appropriate"


def _write_labels(place: str, folder: Path) -> None:
    work = _open_work(place, checks=False)
    _write(folder / "labels.csv", [{"pair": at, "annotator": who, "label": _label(at, who)} for who, at in work])


def _write_verdicts(place: str, folder: Path) -> None:
    work = _open_work(place, checks=True)
    says = [{"pair": at, "validator": who, "verdict": "agree" if at % 4 else "disagree"} for who, at in work]
    _write(folder / "verdicts.csv", says)


def _write_outcomes(place: str, folder: Path) -> None:
    pairs = _waiting(place)
    _write(folder / "outcomes.csv", [{"pair": at, "label": "appropriate", "by": "lea"} for at in pairs])


def _told(do: Do) -> Do:
    """Errors that a user can cause end it as they end a command."""

    def end(place: str, folder: Path) -> None:
        try:
            do(place, folder)
        except FcpairError as error:
            print(f"Error: {error}")
            sys.exit(2)

    return end


def _waiting(place: str) -> list[int]:
    study = _open(place)
    pairs: list[int] = study.grid().waiting_pairs()
    study.close()
    return pairs


def _decide(place: str, _folder: Path) -> None:
    study = _open(place)
    study.grid().decide(study.grid().waiting_pairs()[0], 2, by="lea", note="as most do")
    study.close()


def _edit_guidelines(place: str, _folder: Path) -> None:
    study = _open(place)
    study.edit_guidelines("# Labels\n\nRead both texts twice.", by="ana")
    study.close()


def _withdraw(place: str, folder: Path) -> None:
    study = _open(place)
    run = max(one.id for one in study.log())
    study.close()
    command("labels", "withdraw", str(run))(place, folder)


def _write_answers(place: str, folder: Path) -> None:
    study = _open(place)
    grid = study.grid()
    grid.sheets.write_answers(folder / "sheets")
    study.close()
    rows: list[dict[str, Any]] = []
    for sheet in sorted((folder / "sheets").glob("*.csv")):
        with sheet.open(encoding="utf-8", newline="") as file:
            rows += [{"cell": row["cell"], "by": row["by"], "ask": "yes"} for row in csv.DictReader(file)]
    _write(folder / "answers.csv", rows)


def _recipe(name: str, without: str = "") -> Do:
    """Walk a recipe of the examples; what is `without` is a section that it does without."""

    def do(place: str, folder: Path) -> None:
        text = (EXAMPLES / f"{name}.toml").read_text("utf-8")
        parts = text.split("\n\n")
        kept = [part for part in parts if not (without and part.startswith(without))]
        for file in EXAMPLES.glob("*.csv"):
            (folder / file.name).write_bytes(file.read_bytes())
        (folder / "recipe.toml").write_text("\n\n".join(kept), "utf-8")
        command("run", "FOLDER/recipe.toml")(place, folder)

    return do


def _make_survey(place: str, folder: Path) -> None:
    """A survey that waits for people."""
    with suppress(SystemExit):
        _recipe("ask", without="[simulate]")(place, folder)


def _make_models(place: str, folder: Path) -> None:
    """A study whose models have still to answer."""
    from fcpair.params import Pair
    from fcpair.recipe import load_recipe
    from fcpair.study import Study

    for file in EXAMPLES.glob("*.csv"):
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "recipe.toml").write_bytes((EXAMPLES / "curate.toml").read_bytes())
    recipe = load_recipe(folder / "recipe.toml")
    study = Study.create(place, recipe.setup, grids=recipe.grids)
    for run in study.walk(recipe):
        if run.stage == Pair.stage:
            break
    study.close()


def _make_volunteers(place: str, folder: Path) -> None:
    """A study that is dealt openly, and two who have come in."""
    write_corpus(place, folder)
    road = (("init",), ("import", "FOLDER/corpus.csv"), ("select", "--hs", "4"), ("retrieve", "--k", "12"), ("pair",))
    for line in (*road, ("people", "add", *PEOPLE), ("assign", "--open", "--overlap", "2:0.25")):
        with suppress(SystemExit):
            command(*line)(place, folder)
    study = _open(place)
    for one in study.people:
        study.access.consent(one.id, {})
    study.close()


def _make_overdue(place: str, folder: Path) -> None:
    """The same, where the lease of somebody has run out."""
    from sqlalchemy import text

    _make_volunteers(place, folder)
    _ask(place, folder)
    study = _open(place)
    with study._store.write() as tx:
        tx.execute(text("UPDATE assignment SET until = '2020-01-01T00:00:00.000+00:00'"))
    study.close()


def _ask(place: str, _folder: Path, name: str = "ana") -> None:
    """Somebody asks for pairs."""
    from fcpair.params import Annotate

    study = _open(place)
    visitor = study.access.by_id(next(one.id for one in study.people if one.name == name))
    study.work_queue(Annotate()).tasks(visitor, 5)
    study.close()


def _ask_too(place: str, folder: Path) -> None:
    """Somebody else asks."""
    _ask(place, folder, "ben")


STAGES = (
    Stage("init", command("init", "--title", "Crashed"), base="nothing"),
    Stage("import", command("import", "FOLDER/corpus.csv"), write_corpus),
    Stage("select", command("select", "--hs", "4", "--seed", "13")),
    Stage("retrieve", command("retrieve", "--k", "12")),
    Stage("pair, sampled", command("pair", "--sample", "12"), on_road=False),
    Stage("pair", command("pair")),
    Stage("people add", command("people", "add", *PEOPLE)),
    Stage("assign openly", command("assign", "--open", "--overlap", "2:0.25"), on_road=False),
    Stage("assign", command("assign", "--overlap", "2:0.25", "--overlap", "3:0.25", "--seed", "1")),
    Stage("people retire", command("people", "retire", "cleo"), on_road=False),
    Stage("people handover", command("people", "handover", "ben", "--to", "ana"), on_road=False),
    Stage("simulate", command("simulate", "--seed", "3", "--skips", "0.2"), on_road=False),
    Stage("guidelines", _told(_edit_guidelines), on_road=False),
    Stage("labels import", command("labels", "import", "FOLDER/labels.csv"), _write_labels),
    Stage("labels withdraw", _told(_withdraw), on_road=False),
    Stage("assign more", command("assign", "--more", "--overlap", "2:0.5", "--overlap", "3:0.25"), on_road=False),
    Stage("extend", command("extend", "--hs", "2", "--seed", "5"), on_road=False),
    Stage("further", command("further", "--if-tied", "1"), on_road=False),
    Stage("relabel", command("labels", "split", "appropriate", *SPLIT, "--reason", "too wide"), on_road=False),
    Stage("adjudicate by a policy", command("adjudicate", "--policy", "manual")),
    Stage("people add an adjudicator", command("people", "add", "lea", "--role", "adjudicator")),
    Stage("adjudicate by a person", _told(_decide), on_road=False),
    Stage("adjudicate by a file", command("adjudicate", "--import", "FOLDER/outcomes.csv"), _write_outcomes),
    Stage("people add validators", command("people", "add", "vera", "walt", "--role", "validator")),
    Stage("validate assign", command("validate", "assign", "--seed", "1")),
    Stage("validate import", command("validate", "import", "FOLDER/verdicts.csv"), _write_verdicts),
    Stage("partition, released", command("partition", "--tier", "bronze", "--out", "FOLDER/bronze.csv")),
    Stage("evaluate", command("evaluate", "--system", "random", "--system", "bm25", "--resamples", "200")),
    Stage("generate", command("generate", "--round", "propose"), on_road=False, base="models"),
    Stage("answers import", command("answers", "import", "FOLDER/answers.csv"), _write_answers, False, "survey"),
    Stage("ask for pairs", _told(_ask), on_road=False, base="volunteers"),
    Stage("ask when leases are over", _told(_ask_too), on_road=False, base="overdue"),
    Stage("assign, closed", command("assign", "--close"), on_road=False, base="volunteers"),
    Stage("run a recipe", _recipe("ask"), on_road=False, base="nothing"),
    Stage("upgrade", command("upgrade"), on_road=False, base="older"),
)
BASES: dict[str, Do] = {
    **{"survey": _make_survey, "models": _make_models},
    **{"volunteers": _make_volunteers, "overdue": _make_overdue},
}
