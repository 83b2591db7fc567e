"""Models that answer a round: what they say is kept like anybody's answer, and people go on from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
PROPOSE = RoundPlan("propose", "text: text(min_words=3)", models=("plain=canned:plain.csv",))
CURATE = RoundPlan("curate", "text: edit(min_words=3); fit: one_of(useless,usable+)", people=2, edits="propose")


def canned(folder: Path, said: Mapping[str, str], name: str = "plain") -> str:
    path = folder / f"{name}.csv"
    path.write_text("row,reply\n" + "".join(f'"{row}","{text}"\n' for row, text in said.items()), "utf-8")
    return f"{name}=canned:{path}"


def study_of(folder: Path, propose: RoundPlan, *others: RoundPlan) -> Grid:
    names = tuple(model.partition("=")[0] for model in propose.models)
    plan = GridPlan("replies", SidePlan(names=STATEMENTS), SidePlan(names=names), (propose, *others))
    study = Study.create(folder / "study.db", Setup(title="t"), grids=[plan])
    grid = study.grid()
    grid.pair()
    return grid


def asked(folder: Path, said: Mapping[str, str] = SAID) -> Grid:
    return study_of(folder, RoundPlan("propose", PROPOSE.form, models=(canned(folder, said),)), CURATE)


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


def texts(grid: Grid, name: str) -> list[str]:
    with grid._store.read() as tx:
        return [one.body for one in authorship.authored_texts(tx, rounds.by_name(tx, name)).values()]


def test_what_models_say_is_kept_with_what_they_are(tmp_path: Path) -> None:
    grid = asked(tmp_path)
    run = grid.generate("propose")
    assert (run.counts["answers"], run.counts["skips"]) == (2, 1)
    assert run.params["models"]["plain"]["source"] == "canned"
    assert texts(grid, "propose") == list(SAID.values())
    with grid._store.read() as tx:
        given = judgements.current_answers(tx, rounds.by_name(tx, "propose"), "annotator", "note")
        assert judgements.n_by_origin(tx) == {Origin.GENERATED: 3}
    assert given["annotator"].tolist() == ["plain"] * 3
    assert given["note"].tolist()[-1] == "the model has no reply to this cell"
    assert [one.role for one in Study._of(grid._store).people] == [Role.MODEL]


def test_only_what_has_no_answer_is_asked_again(tmp_path: Path) -> None:
    grid = asked(tmp_path)
    grid.generate("propose")
    canned(tmp_path, {**SAID, "Cats are cold.": "Mine is warm enough."})
    assert grid.generate("propose").counts["answers"] == 1
    assert texts(grid, "propose") == [*SAID.values(), "Mine is warm enough."]
    with pytest.raises(StageError, match="every cell of grid `replies` has the answer"):
        grid.generate("propose")


def test_what_models_say_is_kept_whatever_happens_elsewhere_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = asked(tmp_path)
    said = meanwhile(monkeypatch, lambda: Study._of(grid._store).edit_guidelines("Be kind.", by="lea"))
    Study._of(grid._store).add_people(["lea"], Role.LEAD)
    assert grid.generate("propose").counts["answers"] == 2
    assert len(said) == 3


def test_where_what_is_asked_changes_meanwhile_only_what_is_new_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = asked(tmp_path)
    first = grid.generate("propose")
    canned(tmp_path, {**SAID, "Cats are cold.": "Mine is warm enough."})
    said = meanwhile(monkeypatch, lambda: grid.withdraw(first.id) if len(said) == 1 else None)
    assert grid.generate("propose").counts["answers"] == 3
    assert said == ["Cats are cold.", "Tea is for cowards.", "Cyclists own the road."]
    assert len(texts(grid, "propose")) == 3


def test_where_it_changes_each_time_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = asked(tmp_path)

    def change() -> None:
        with grid._store.write() as tx:
            options = {**rounds.by_name(tx, "propose").options.as_json(), "prompt": f"Reply {len(said)}: {{row}}"}
            tx.execute(tables.round_.update().where(tables.round_.c.name == "propose").values(options=options))
            note_run(tx, "test", {}, {})

    said = meanwhile(monkeypatch, change)
    with pytest.raises(ConflictError, match="changed each time while they were asked"):
        grid.generate("propose")
    assert texts(grid, "propose") == []
    assert len(said) == 3 * MAX_TRIES


def test_a_reply_that_the_form_does_not_take_is_a_skip_and_its_note_says_why(tmp_path: Path) -> None:
    propose = RoundPlan("propose", "fit: one_of(useless,usable+)", models=(canned(tmp_path, {STATEMENTS[0]: "Good."}),))
    grid = study_of(tmp_path, propose)
    assert grid.generate("propose").counts["skips"] == 3
    with grid._store.read() as tx:
        note = judgements.current_answers(tx, rounds.by_name(tx, "propose"), "note")["note"].tolist()[0]
    assert note.startswith("the reply cannot be used (unknown label `Good.`; expected one of")


@pytest.mark.server
@pytest.mark.slow
def test_a_text_is_marked_and_stays_whatever_is_amiss_with_it(tmp_path: Path) -> None:
    said = {"Tea is for cowards.": "No.", "Cyclists own the road.": "1. Yes.\n2. They share it.", "Cats are cold.": ""}
    propose = RoundPlan("propose", PROPOSE.form, models=(canned(tmp_path, said),), language="en")
    grid = study_of(tmp_path, propose, CURATE)
    counts = grid.generate("propose").counts
    assert (counts["answers"], counts["skips"]) == (3, 0)
    assert counts["marked"] == {"empty": 1, "too short": 1, "several replies": 1}
    rows = grid.answers("propose")
    assert rows["text"].tolist() == list(said.values())
    assert rows["marks"].tolist() == ["too short", "several replies", "empty"]
    with grid._store.read() as tx:
        kept = tx.execute(select(tables.reply.c.body, tables.reply.c.marks)).all()
    assert [tuple(row) for row in kept] == [
        ("No.", ["too short"]),
        (said[STATEMENTS[1]], ["several replies"]),
        ("", ["empty"]),
    ]
    assert grid.assign_round("curate").counts["cells"] == 3  # the empty one, too


@pytest.mark.server
def test_a_reply_with_what_is_no_character_is_a_skip_and_the_others_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = asked(tmp_path)
    said = ["Tea is fine.\x00 Really.", "\ud83dYes, they do.", "Mine is warm."]
    monkeypatch.setattr(answering_models.Canned, "replies", lambda *_: said)
    assert grid.generate("propose").counts["skips"] == 2
    assert texts(grid, "propose") == ["Mine is warm."]
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


def test_a_language_that_cannot_be_told_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    propose = RoundPlan("propose", PROPOSE.form, models=(canned(tmp_path, SAID),), language="eng")
    with pytest.raises(InputError, match="`eng` is not a language that can be detected"):
        study_of(tmp_path, propose).generate("propose")


@pytest.mark.server
def test_a_json_reply_with_a_key_twice_is_no_answer(tmp_path: Path) -> None:
    twice = '{""text"": ""I like tea a lot."", ""text"": ""Tea is fine by me.""}'
    propose = RoundPlan(
        "propose", "text: text(); also: any_of(a,b)", models=(canned(tmp_path, {STATEMENTS[0]: twice}),)
    )
    grid = study_of(tmp_path, propose)
    assert grid.generate("propose").counts["skips"] == 3
    with grid._store.read() as tx:
        note = judgements.current_answers(tx, rounds.by_name(tx, "propose"), "note")["note"].tolist()[0]
    assert note.startswith("the reply cannot be used (duplicate key `text` in an object)")
    assert grid.answers("propose")["marks"].tolist() == ["duplicate keys", "", ""]


@pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```", "\n```\n{}\n```\n"])
def test_the_text_of_a_json_reply_is_marked_and_stays(tmp_path: Path, fence: str) -> None:
    text = "No, not at all, my dear friend; they share the road with all of us every day."
    said = f'{{""text"": ""{text}"", ""kind"": ""facts""}}'
    form = "text: text(max_words=3); kind: one_of(facts,question)"
    replies = {STATEMENTS[0]: fence.replace("{}", said)}
    grid = study_of(tmp_path, RoundPlan("propose", form, models=(canned(tmp_path, replies),), language="fa"))
    assert grid.generate("propose").counts["marked"] == {"too long": 1, "wrong language": 1}
    rows = grid.answers("propose")
    assert (rows["text"].iloc[0], rows["kind"].iloc[0]) == (
        "No, not at all, my dear friend; they share the road with all of us every day.",
        "facts",
    )


def test_a_prompt_has_the_texts_the_definition_and_what_is_known_of_the_row(tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text("{{A {column}: {definition}}} about {row.topic}.\n{row}", "utf-8")
    rows = tmp_path / "rows.csv"
    rows.write_text("statement,topic\nTea is for cowards.,tea\n", "utf-8")
    propose = RoundPlan(
        "propose", PROPOSE.form, models=("m=service:m",), prompt_file=path, definitions={"joke": "a kind joke"}
    )
    plan = GridPlan("replies", SidePlan(file=rows, column="statement"), SidePlan(names=("joke",)), (propose,))
    study = Study.create(tmp_path / "study.db", Setup(title="t"), grids=[plan])
    study.grid().pair()
    with study.grid()._store.read() as tx:
        (cell,) = generate._load_queries(tx, "replies", "propose").cell
    assert cell.prompt == "{A joke: a kind joke} about tea.\nTea is for cowards."
    assert study.grid().desk.estimate_generation("propose") == [("m", (1, 0, 13, None))]  # 52 characters


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
        study_of(tmp_path, RoundPlan("propose", PROPOSE.form, models=("plain=service:m",), prompt_file=path))


def test_metadata_that_no_row_has_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("statement,topic\nTea is for cowards.,tea\nCats are cold.,\n", "utf-8")
    for prompt, why in (("{row.topc} {row}", "which no row has; did you mean `topic`"), ("{row.topic} {row}", "")):
        propose = RoundPlan("propose", PROPOSE.form, models=("m=service:m",), prompt=prompt)
        plan = GridPlan("replies", SidePlan(file=rows, column="statement"), SidePlan(names=("joke",)), (propose,))
        grid = Study.create(tmp_path / f"{len(why)}.db", Setup(title="t"), grids=[plan]).grid()
        grid.pair()
        if why:
            with pytest.raises(InputError, match=why):
                grid.desk.estimate_generation("propose")
        else:
            assert grid.desk.estimate_generation("propose")[0][1].requests == 2


def test_a_definition_of_no_column_is_refused(tmp_path: Path) -> None:
    propose = RoundPlan(
        "propose", PROPOSE.form, models=("plain=service:m",), prompt="{row} {definition}", definitions={"plane": "so"}
    )
    with pytest.raises(InputError, match="definition of `plane`, which is not a column; did you mean `plain`"):
        study_of(tmp_path, propose)


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
def test_replies_are_listed_verbatim_also_what_became_a_skip(tmp_path: Path) -> None:
    said = {STATEMENTS[0]: ' {""text"": ""Is it so?""} '}
    grid = study_of(tmp_path, RoundPlan("propose", "text: text(); kind: any_of(a,b)", models=(canned(tmp_path, said),)))
    run = grid.generate("propose")
    rows = grid.replies("propose")
    assert rows.to_dict("records") == [
        {"cell": 1, "by": "plain", "run": run.id, "reply": ' {"text": "Is it so?"} ', "marks": ""}
    ]


def test_a_form_of_several_questions_is_answered_as_json(tmp_path: Path) -> None:
    rows = ('row,reply\n"Tea is for cowards.","{""text"": ""Is it so?"", ""kind"": ""question""}"\n',)
    (tmp_path / "plain.csv").write_text("".join(rows), "utf-8")
    form = "text: text(); kind: one_of(facts,question)"
    grid = study_of(tmp_path, RoundPlan("propose", form, models=(f"plain=canned:{tmp_path / 'plain.csv'}",)))
    assert grid.generate("propose").counts["answers"] == 1
    assert texts(grid, "propose") == ["Is it so?"]


def test_people_curate_what_models_proposed(tmp_path: Path) -> None:
    grid = asked(tmp_path)
    with pytest.raises(StageError, match="`propose`"):
        grid.assign_round("curate")
    grid.generate("propose")
    assert grid.assign_round("curate").counts["cells"] == 2
    assert grid.simulate(Simulate(skips=0, seed=3)).counts["answers"] == 2
    edited = texts(grid, "curate")
    assert all(any(new.startswith(old) for old in SAID.values()) for new in edited)


def test_each_model_answers_its_own_column(tmp_path: Path) -> None:
    kinder = canned(tmp_path, dict.fromkeys(SAID, "A kinder word to you."), "kinder")
    grid = study_of(tmp_path, RoundPlan("propose", PROPOSE.form, models=(canned(tmp_path, SAID), kinder)))
    assert grid.generate("propose").counts["answers"] == 4
    assert sorted(texts(grid, "propose")) == sorted([*SAID.values(), *["A kinder word to you."] * 2])


@pytest.mark.server
def test_what_models_said_is_taken_back_as_a_whole_and_asked_again(tmp_path: Path) -> None:
    grid = asked(tmp_path)
    run = grid.generate("propose")
    grid.withdraw(run.id)
    assert texts(grid, "propose") == []
    with pytest.raises(StageError, match="`propose`"):
        grid.assign_round("curate")
    canned(tmp_path, dict.fromkeys(STATEMENTS, "Said anew and better."))
    assert grid.generate("propose").counts["answers"] == 3
    assert texts(grid, "propose") == ["Said anew and better."] * 3


def test_a_person_is_no_model(tmp_path: Path) -> None:
    grid = asked(tmp_path)
    Study._of(grid._store).add_people(["plain"], Role.ANNOTATOR)
    with pytest.raises(InputError, match="`plain` is a person of this study"):
        grid.generate("propose")


def test_people_do_not_answer_for_models_nor_models_for_people(tmp_path: Path) -> None:
    grid = asked(tmp_path)
    with pytest.raises(StageError, match="answered by models"):
        grid.assign_round("propose")
    with pytest.raises(StageError, match="answered by people"):
        grid.generate("curate")


@pytest.mark.server
def test_the_walk_stops_before_a_service_is_asked_and_goes_on_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def ask(prompt: object, *_: object) -> str:
        asked.append(prompt)
        return "Not at all, I think."

    monkeypatch.setattr(answering_models, "query_and_cache", ask)
    propose = RoundPlan("propose", PROPOSE.form, models=("plain=service:tiny",), prompt="Answer: {row}")
    plan = GridPlan("replies", SidePlan(names=STATEMENTS), SidePlan(names=("plain",)), (propose, CURATE))
    recipe = Recipe(setup=Setup(title="t"), simulate=Simulate(skips=0), grids=(plan,))
    study = Study.create(tmp_path / "study.db", recipe.setup, grids=recipe.grids)
    assert [run.stage for run in study.walk(recipe)] == ["pair"]
    assert study.status()["next"] == "run `fcpair generate --grid replies --round propose`"
    assert asked == []
    study.grid().generate("propose")
    assert [run.stage for run in study.walk(recipe)] == ["assign", "simulate"]
    assert len(asked) == len(STATEMENTS)


def test_a_service_that_fails_leaves_the_study_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = RoundPlan("propose", PROPOSE.form, models=("plain=service:tiny",), prompt="Answer: {row}")
    grid = study_of(tmp_path, plan)

    def fails(*_: object) -> str:
        raise ServiceError("it does not answer")

    monkeypatch.setattr(answering_models, "query_and_cache", fails)
    monkeypatch.setenv("FCPAIR_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ServiceError):
        grid.generate("propose")
    with grid._store.read() as tx:
        assert not judgements.n_by_origin(tx)
    assert not Study._of(grid._store).people
