"""Models that answer a round: what they say is kept like anybody's answer, and people go on from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from fcpair.errors import ConflictError, InputError, RecipeError, ServiceError, StageError
from fcpair.models import answering_models
from fcpair.params import Setup, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.recipe import Recipe, load_recipe
from fcpair.records import Origin, Role
from fcpair.steps.answers import generate
from fcpair.steps.answers.generate import MAX_TRIES
from fcpair.steps.base.context import note_run
from fcpair.steps.oversight import study_recipe
from fcpair.store.answers import authorship, judgements
from fcpair.store.assignment import rounds
from fcpair.store.database import tables
from fcpair.study import Grid, Study

STATEMENTS = ("Tea is for cowards.", "Cyclists own the road.", "Cats are cold.")
SAID = {"Tea is for cowards.": "Many brave people like tea.", "Cyclists own the road.": "They share it, as we do."}
WARM = {**SAID, "Cats are cold.": "Mine is warm enough."}
FORM = "text: text(min_words=3)"
CURATE = RoundPlan("curate", "text: edit(min_words=3); fit: one_of(useless,usable+)", people=2, edits="propose")
SERVICE = RoundPlan("propose", FORM, models=("plain=service:tiny",), prompt="Answer: {row}")


def canned(folder: Path, said: Mapping[str, str], name: str = "plain") -> str:
    path = folder / f"{name}.csv"
    path.write_text("row,reply\n" + "".join(f'"{row}","{text}"\n' for row, text in said.items()), "utf-8")
    return f"{name}=canned:{path}"


def study_of(folder: Path, propose: RoundPlan, *others: RoundPlan) -> Grid:
    names = tuple(model.partition("=")[0] for model in propose.models)
    plan = GridPlan("replies", SidePlan(names=STATEMENTS), SidePlan(names=names), (propose, *others))
    grid = Study.create(folder / "study.db", Setup(title="t"), grids=[plan]).grid()
    grid.pair()
    return grid


def asked(folder: Path, said: Mapping[str, str] = SAID, form: str = FORM, language: str = "") -> Grid:
    """A grid of which a canned model is to answer the round `propose`, which people curate."""
    propose = RoundPlan("propose", form, models=(canned(folder, said),), language=language)
    return study_of(folder, propose, *([CURATE] if form == FORM else []))


def study_with(grid: Grid) -> Study:
    return Study._of(grid._store)


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> list[str]:
    """The rows that a canned model is asked about; something is done each time when it has replied."""
    really = answering_models.Canned.replies
    rows: list[str] = []

    def replies(
        self: answering_models.Canned,
        cells: Sequence[answering_models.Cell],
        progress: answering_models.Progress | None = None,
    ) -> list[str | None]:
        rows.extend(cell.row for cell in cells)
        said = really(self, cells, progress)
        act()
        return said

    monkeypatch.setattr(answering_models.Canned, "replies", replies)
    return rows


def texts(grid: Grid, name: str = "propose") -> list[str]:
    with grid._store.read() as tx:
        return [text.body for text in authorship.authored_texts(tx, rounds.by_name(tx, name)).values()]


def notes(grid: Grid) -> list[str]:
    with grid._store.read() as tx:
        rows = judgements.current_answers(tx, rounds.by_name(tx, "propose"), "note")
    return [str(note) for note in rows["note"]]


def test_what_models_say_is_kept_with_what_they_are_and_only_the_rest_is_asked_again(tmp_path: Path) -> None:
    grid = asked(tmp_path)
    run = grid.generate("propose")
    assert (run.counts["answers"], run.counts["skips"]) == (2, 1)
    assert run.params["models"]["plain"]["source"] == "canned"
    assert texts(grid) == list(SAID.values())
    with grid._store.read() as tx:
        given = judgements.current_answers(tx, rounds.by_name(tx, "propose"), "annotator")
        assert judgements.n_by_origin(tx) == {Origin.GENERATED: 3}
    assert given["annotator"].tolist() == ["plain"] * 3
    assert notes(grid)[-1] == "the model has no reply to this cell"
    assert [person.role for person in study_with(grid).people] == [Role.MODEL]
    canned(tmp_path, WARM)
    assert grid.generate("propose").counts["answers"] == 1
    assert texts(grid) == list(WARM.values())
    with pytest.raises(StageError, match="every cell of grid `replies` has the answer"):
        grid.generate("propose")


def test_where_what_is_asked_changes_meanwhile_only_what_is_new_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = asked(tmp_path)
    first = grid.generate("propose")
    canned(tmp_path, WARM)
    rows = meanwhile(monkeypatch, lambda: grid.withdraw(first.id) if len(rows) == 1 else None)
    assert grid.generate("propose").counts["answers"] == 3
    assert rows == ["Cats are cold.", "Tea is for cowards.", "Cyclists own the road."]
    assert len(texts(grid)) == 3


def test_where_it_changes_each_time_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = asked(tmp_path)

    def change() -> None:
        with grid._store.write() as tx:
            options = {**rounds.by_name(tx, "propose").options.as_json(), "prompt": f"Reply {len(rows)}: {{row}}"}
            tx.execute(tables.round_.update().where(tables.round_.c.name == "propose").values(options=options))
            note_run(tx, "test", {}, {})

    rows = meanwhile(monkeypatch, change)
    with pytest.raises(ConflictError, match="changed each time while they were asked"):
        grid.generate("propose")
    assert texts(grid) == []
    assert len(rows) == 3 * MAX_TRIES


@pytest.mark.server
@pytest.mark.slow
def test_a_text_is_marked_and_stays_whatever_is_amiss_with_it(tmp_path: Path) -> None:
    said = {"Tea is for cowards.": "No.", "Cyclists own the road.": "1. Yes.\n2. They share it.", "Cats are cold.": ""}
    marks = ["too short", "several replies", "empty"]
    grid = asked(tmp_path, said, language="en")
    counts = grid.generate("propose").counts
    assert (counts["answers"], counts["skips"]) == (3, 0)
    assert counts["marked"] == dict.fromkeys(marks, 1)
    rows = grid.answers("propose")
    assert rows["text"].tolist() == list(said.values())
    assert rows["marks"].tolist() == marks
    with grid._store.read() as tx:
        kept = tx.execute(select(tables.reply.c.body, tables.reply.c.marks)).all()
    assert [tuple(row) for row in kept] == [(text, [mark]) for text, mark in zip(said.values(), marks, strict=True)]
    assert grid.assign_round("curate").counts["cells"] == 3  # the empty one, too


@pytest.mark.server
def test_a_reply_with_what_is_no_character_is_a_skip_and_the_others_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = asked(tmp_path)
    said = ["Tea is fine.\x00 Really.", "\ud83dYes, they do.", "Mine is warm."]
    monkeypatch.setattr(answering_models.Canned, "replies", lambda *_: said)
    assert grid.generate("propose").counts["skips"] == 2
    assert texts(grid) == ["Mine is warm."]
    with grid._store.read() as tx:
        kept = list(tx.execute(select(tables.reply.c.body).order_by(tables.reply.c.id)).scalars())
    assert kept == ["Tea is fine.\\u0000 Really.", "\\ud83dYes, they do.", "Mine is warm."]


@pytest.mark.server
def test_marks_are_those_of_the_reply_that_is_the_answer_now(tmp_path: Path) -> None:
    grid = asked(tmp_path, {**SAID, "Cats are cold.": "No."})
    grid.withdraw(grid.generate("propose").id)
    canned(tmp_path, SAID)
    grid.generate("propose")
    assert grid.answers("propose")["marks"].tolist() == ["", "", ""]


@pytest.mark.server
@pytest.mark.parametrize(
    ("form", "reply", "note", "marks"),
    [
        ("fit: one_of(useless,usable+)", "Good.", "unknown label `Good.`; expected one of", ""),
        (
            "text: text(); also: any_of(a,b)",
            '{"text": "I like tea a lot.", "text": "Tea is fine by me."}',
            "duplicate key `text` in an object)",
            "duplicate keys",
        ),
        ("text: text(); kind: any_of(a,b)", ' {"text": "Is it so?"} ', "", ""),
    ],
)
def test_a_reply_that_the_form_does_not_take_is_a_skip_which_says_why_and_is_listed_verbatim(
    tmp_path: Path, form: str, reply: str, note: str, marks: str
) -> None:
    grid = asked(tmp_path, {STATEMENTS[0]: reply.replace('"', '""')}, form)
    run = grid.generate("propose")
    assert run.counts["skips"] == 3
    assert notes(grid)[0].startswith(f"the reply cannot be used ({note}")
    assert grid.answers("propose")["marks"].tolist() == [marks, "", ""]
    assert grid.replies("propose").to_dict("records") == [
        {"cell": 1, "by": "plain", "run": run.id, "reply": reply, "marks": marks}
    ]


@pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```", "\n```\n{}\n```\n"])
def test_a_form_of_several_questions_is_answered_as_json_of_which_the_text_is_marked(
    tmp_path: Path, fence: str
) -> None:
    text = "No, not at all, my dear friend; they share the road with all of us every day."
    said = f'{{""text"": ""{text}"", ""kind"": ""facts""}}'
    form = "text: text(max_words=3); kind: one_of(facts,question)"
    grid = asked(tmp_path, {STATEMENTS[0]: fence.replace("{}", said)}, form, "fa")
    counts = grid.generate("propose").counts
    assert (counts["answers"], counts["marked"]) == (1, {"too long": 1, "wrong language": 1})
    rows = grid.answers("propose")
    assert (rows["text"].iloc[0], rows["kind"].iloc[0]) == (text, "facts")


def test_a_prompt_has_the_texts_the_definition_and_what_is_known_of_the_row(tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text("{{A {column}: {definition}}} about {row.topic}.\n{row}", "utf-8")
    rows = tmp_path / "rows.csv"
    rows.write_text("statement,topic\nTea is for cowards.,tea\nCats are cold.,\n", "utf-8")
    known = RoundPlan("known", FORM, models=("joke=service:m",), prompt_file=path, definitions={"joke": "a kind joke"})
    typo = replace(SERVICE, name="typo", models=("joke=service:m",), prompt="{row.topc} {row}")
    some = replace(typo, name="some", prompt="{row.topic} {row}")
    plan = GridPlan("replies", SidePlan(file=rows, column="statement"), SidePlan(names=("joke",)), (known, typo, some))
    grid = Study.create(tmp_path / "study.db", Setup(title="t"), grids=[plan]).grid()
    grid.pair()
    with grid._store.read() as tx:
        cell = generate._load_queries(tx, "replies", "known")[2][0].cell
    assert cell.prompt == "{A joke: a kind joke} about tea.\nTea is for cowards."
    assert grid.desk.estimate_generation("known") == [("joke", (2, 0, 24, None))]  # 52 and 44 characters
    with pytest.raises(InputError, match="which no row has; did you mean `topic`"):
        grid.desk.estimate_generation("typo")
    assert grid.desk.estimate_generation("some")[0][1].requests == 2


@pytest.mark.parametrize(
    ("prompt", "problem"),
    [
        ("Answer it.", "a prompt without `{row}`"),
        ("Answer {row}\nas {colum}.", r"prompt.txt:2: there is no placeholder `{colum}`; did you mean `column`\?"),
        ("Answer {row} {", r"prompt.txt:1: a single brace"),
        ("{definition} {row}", "`definitions` of round `propose` has none of `plain`"),
        (
            "{colum}\n{",
            r"(?s)3 things are wrong.*a prompt without `{row}`.*prompt.txt:1: .*prompt.txt:2: a single brace",
        ),
    ],
)
def test_a_prompt_that_cannot_be_is_refused_with_its_line(tmp_path: Path, prompt: str, problem: str) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text(prompt, "utf-8")
    with pytest.raises(InputError, match=problem):
        study_of(tmp_path, replace(SERVICE, prompt="", prompt_file=path))


def test_a_definition_of_no_column_and_a_language_that_cannot_be_told_are_refused(tmp_path: Path) -> None:
    propose = replace(SERVICE, prompt="{row} {definition}", definitions={"plane": "so"})
    with pytest.raises(InputError, match="definition of `plane`, which is not a column; did you mean `plain`"):
        study_of(tmp_path, propose)
    (tmp_path / "language").mkdir()
    grid = asked(tmp_path / "language", language="eng")
    with pytest.raises(InputError, match="`eng` is not a language that can be detected"):
        grid.generate("propose")


def test_a_changed_prompt_is_a_difference_that_names_its_file(tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text("Answer {row}", "utf-8")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        '[[grid]]\nname = "replies"\nrows = { names = ["Tea."] }\ncolumns = { names = ["m"] }\n'
        '[[grid.round]]\nname = "propose"\nform = "text()"\nmodels = ["m=service:m"]\nprompt_file = "prompt.txt"\n',
        "utf-8",
    )
    study = Study.create(tmp_path / "study.db", Setup(), grids=load_recipe(recipe).grids)
    study_recipe.check_recipe(study, load_recipe(recipe))
    path.write_text("Answer\n{row}", "utf-8")
    with pytest.raises(RecipeError, match=r"prompt +the text of .*prompt\.txt +another text"):
        study_recipe.check_recipe(study, load_recipe(recipe))


@pytest.mark.server
def test_people_curate_what_models_proposed_until_that_is_taken_back(tmp_path: Path) -> None:
    grid = asked(tmp_path)
    with pytest.raises(StageError, match="answered by models"):
        grid.assign_round("propose")
    with pytest.raises(StageError, match="answered by people"):
        grid.generate("curate")
    with pytest.raises(StageError, match="`propose`"):
        grid.assign_round("curate")
    run = grid.generate("propose")
    grid.withdraw(run.id)
    assert texts(grid) == []
    with pytest.raises(StageError, match="`propose`"):
        grid.assign_round("curate")
    canned(tmp_path, dict.fromkeys(STATEMENTS[:2], "Said anew and better."))
    assert grid.generate("propose").counts["answers"] == 2
    assert texts(grid) == ["Said anew and better."] * 2
    assert grid.assign_round("curate").counts["cells"] == 2
    assert grid.simulate(Simulate(skips=0, seed=3)).counts["answers"] == 2
    assert all(new.startswith("Said anew and better.") for new in texts(grid, "curate"))


def test_each_model_answers_its_own_column_and_a_person_is_no_model(tmp_path: Path) -> None:
    kinder = canned(tmp_path, dict.fromkeys(SAID, "A kinder word to you."), "kinder")
    grid = study_of(tmp_path, RoundPlan("propose", FORM, models=(canned(tmp_path, SAID), kinder)))
    assert grid.generate("propose").counts["answers"] == 4
    assert sorted(texts(grid)) == sorted([*SAID.values(), *["A kinder word to you."] * 2])
    (tmp_path / "person").mkdir()
    grid = asked(tmp_path / "person")
    study_with(grid).add_people(["plain"], Role.ANNOTATOR)
    with pytest.raises(InputError, match="`plain` is a person of this study"):
        grid.generate("propose")


@pytest.mark.server
def test_the_walk_stops_before_a_service_is_asked_and_goes_on_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def ask(prompt: object, *_: object) -> str:
        asked.append(prompt)
        return "Not at all, I think."

    monkeypatch.setattr("fcpair.models.service.query_and_cache", ask)
    plan = GridPlan("replies", SidePlan(names=STATEMENTS), SidePlan(names=("plain",)), (SERVICE, CURATE))
    recipe = Recipe(setup=Setup(title="t"), simulate=Simulate(skips=0), grids=(plan,))
    study = Study.create(tmp_path / "study.db", recipe.setup, grids=recipe.grids)
    assert [run.stage for run in study.walk(recipe)] == ["pair"]
    assert study.status()["next"] == "run `fcpair generate --grid replies --round propose`"
    assert asked == []
    study.grid().generate("propose")
    assert [run.stage for run in study.walk(recipe)] == ["assign", "simulate"]
    assert len(asked) == len(STATEMENTS)


def test_a_service_that_fails_leaves_the_study_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = study_of(tmp_path, SERVICE)

    def fails(*_: object) -> str:
        raise ServiceError("it does not answer")

    monkeypatch.setattr("fcpair.models.service.query_and_cache", fails)
    monkeypatch.setenv("FCPAIR_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ServiceError):
        grid.generate("propose")
    with grid._store.read() as tx:
        assert not judgements.n_by_origin(tx)
    assert not study_with(grid).people
