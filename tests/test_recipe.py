"""The recipe: what it may say, what it means when it is silent, and what is refused."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

from fcpair import params
from fcpair.errors import Finding, RecipeError
from fcpair.param_values import as_params
from fcpair.params import Adjudicate, Agree, Assign, Import, Partition, Retrieve, Select, Setup, Simulate, Validate
from fcpair.recipe import Recipe, load_recipe
from fcpair.stages.questions.labels import APPROPRIATENESS

OPTIONS: list[type] = [cls for cls in vars(params).values() if hasattr(cls, "stage")]


def written(folder: Path, content: str) -> Path:
    path = folder / "recipe.toml"
    path.write_text(content, "utf-8")
    return path


def load(folder: Path, content: str) -> Recipe:
    return load_recipe(written(folder, content))


# -- what it may say


def test_a_recipe_with_every_section(tmp_path: Path) -> None:
    recipe = load(
        tmp_path,
        """
        [study]
        title = "Grumpy"
        [import]
        path = "corpus.csv"
        [select]
        hs = 10
        [retrieve]
        k = 3
        [pair]
        candidates = 12
        [calibration]
        pairs = 10
        counts = "second"
        [assign]
        annotators = 4
        [simulate]
        seed = 5
        [agreement]
        intervals = "annotators"
        [adjudicate]
        policy = "majority"
        [validate]
        blind = true
        [partition]
        diamond = "majority"
        """,
    )
    assert recipe == Recipe(
        setup=Setup(title="Grumpy"),
        import_=Import(path=tmp_path / "corpus.csv"),
        select=Select(hs=10),
        retrieve=Retrieve(k=3),
        pair=params.Pair(candidates=12),
        calibration=params.Calibration(pairs=10, counts="second"),
        assign=Assign(annotators=4),
        simulate=Simulate(seed=5),
        agreement=Agree(intervals="annotators"),
        adjudicate=Adjudicate(policy="majority"),
        validate=Validate(blind=True),
        partition=Partition(diamond="majority"),
    )


def test_every_parameter_is_explained_and_only_the_corpus_has_no_default() -> None:
    assert {options.__name__ for options in OPTIONS} >= {"Setup", "Import", "Assign", "Agree", "Partition", "Export"}
    assert len(OPTIONS) == 19
    for options in OPTIONS:
        assert options.__doc__
        assert all(item.metadata["help"].strip() for item in fields(options)), options
        needed = [item.name for item in fields(options) if item.default is item.default_factory is MISSING]
        assert needed == (["path"] if options is Import else [])


def test_the_defaults_are_fc_conans_or_the_careful_ones(tmp_path: Path) -> None:
    assert load(tmp_path, "") == Recipe()
    assert Setup().scheme == str(APPROPRIATENESS)
    assert (Retrieve().k, Retrieve().model, Retrieve().count_duplicates) == (2, "all-MiniLM-L6-v2", False)
    assert (Adjudicate().policy, Adjudicate().ties, Partition().diamond) == ("manual", "wait", "unanimous")
    assert not Validate().blind


def test_values_are_read_as_their_keys_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORPORA", "/corpora")
    monkeypatch.chdir("/")
    named = """[study]
        scheme = [
            {code = 1, name = "yes", positive = true},
            {code = 0, name = "no"},
            {code = 2, name = "unsure", definite = false},
        ]"""
    groups = 'overlap = {2 = "20%"}\nannotator_groups = [["ana", "ben"], ["eva"]]'
    read: dict[str, object] = {
        "[assign]\noverlap = {2 = 0.126, 3 = 0.05}": Assign(overlap={2: 0.126, 3: 0.05}),
        f"[assign]\n{groups}": Assign(overlap={2: 0.2}, annotator_groups=(("ana", "ben"), ("eva",))),
        "[simulate]\naccuracy = 1": Simulate(accuracy=1.0),
        named: Setup(scheme="one_of(no,yes+,unsure?)"),
        "[study]\nscheme = ' one_of( no,yes+ , unsure? )'": Setup(scheme="one_of(no,yes+,unsure?)"),
        '[study]\ntitle = "$5 replies"': Setup(title="$5 replies"),
        '[import]\npath = "data/c.csv"': Import(tmp_path / "data" / "c.csv"),
        '[import]\npath = "/data/c.csv"': Import(Path("/data/c.csv")),
        '[import]\npath = "$CORPORA/c.csv"': Import(Path("/corpora/c.csv")),
        '[import]\npath = "${CORPORA}/c.csv"': Import(Path("/corpora/c.csv")),
        '[select]\nhs_list = "hs.csv"': Select(hs_list=tmp_path / "hs.csv"),
    }
    for content, options in read.items():
        recipe = load(tmp_path, content)
        assert options in (recipe.setup, recipe.import_, recipe.select, recipe.assign, recipe.simulate), content
    accuracy = load(tmp_path, "[simulate]\naccuracy = 1").simulate
    assert accuracy is not None
    assert type(accuracy.accuracy) is float


# -- what is refused


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[retreive]\nk = 2", "unknown section `retreive`; did you mean `retrieve`?"),
        ("[zzz]", "unknown section `zzz`; known are study, import, select"),
        ("[retrieve]\nmodle = 'x'", r"\[retrieve\]: unknown key `modle`; did you mean `model`?"),
        ("[pair]\nzzz = 1", "unknown key `zzz`; known are candidates, keep_known, sample, seed"),
        ("title = 'x'", "unknown section `title`"),
        ("study = 1", r"\[study\] must be a table"),
        ("[[study]]\ntitle = 'x'", r"\[study\] must be a table"),
        ("[import]\nreader = 'csv'", r"\[import\]: `path` is missing"),
        ("[retrieve]\nmemory_mb = 15", "memory_mb is 15; expected a whole number, 16 or more"),
        ("[retrieve]\nk = 2.0", r"\[retrieve\]: k is 2.0; expected a whole number"),
        ("[retrieve]\nmodel = 1", "model is 1; expected a text"),
        ("[simulate]\naccuracy = true", "accuracy is True; expected a number"),
        ("[import]\npath = 'c'\nreader = 'xml'", "reader is 'xml'; expected one of conan, mt-conan, csv"),
        ("[adjudicate]\npolicy = ['majority']", "expected one of manual, majority"),
        ("[assign]\noverlap = {two = 0.1}", "overlap `two` with the share `0.1` cannot be read"),
        ("[assign]\noverlap = {2 = 'some'}", "overlap `2` with the share `some` cannot be read"),
        ("[assign]\noverlap = {2 = 0.1, 02 = 0.2}", "overlap has two shares for 2 labels"),
        ('[evaluate]\nsystems = ["tfidf"]\nmeasures = ["NDCG@5"]\ncutoff = 5', "every measure has a cutoff of its own"),
        ("[retrieve]\ndepth = 3", r"`depth` \(--depth\) has no effect without `runs` \(--run\)"),
        ("[assign]\nannotator_groups = ['ana', 'ben']", "annotator_groups is 'ana'; expected a list"),
        ("[assign]\nannotator_groups = 'ana'", "annotator_groups is 'ana'; expected a list"),
        ("[study]\nscheme = 3", r"scheme must be a list of tables, or a question such as one_of\("),
        ("[study]\nscheme = 'likert'", r"\[study\] scheme: question `likert`: expected a word and brackets"),
        ("[study]\nscheme = 'one_of(no,2.0+)'", r"scheme: question `one_of\(no,2.0\+\)`: a name must be a word"),
        ("[study]\nscheme = 'one_of(no,yes)'", r"scheme: `one_of\(no,yes\)` cannot decide a cell for tiers: some, not"),
        ("[study]\nscheme = 'scale(1,5,1)'", r"scheme: `scale\(1,5,1\)` cannot decide a cell for tiers: some, not all"),
        ("[study]\nscheme = 'any_of(a,b)'", r"`any_of\(a,b\)` cannot decide a cell for tiers; expected one_of"),
        ("[study]\nscheme = 'scale(1,5,2,positive=4)'", r"4. is between the steps of the scale"),
        ("[study]\nscheme = ['yes', 'no']", "scheme must be a list of tables"),
        ("[study]\nscheme = []", "the label scheme: at least two definite choices"),
        ("[import]\npath = '$NOT_SET_ANYWHERE/c.csv'", "path is `.NOT_SET_ANYWHERE/c.csv`, but that environment"),
        ("[agreement]\nlevel = 2", r"\[agreement\]: agreement: level is 2"),
        ("[agreement]\nlevel = 95", r"\[agreement\]: agreement: level is 95"),
        ("[select]\nlist = 'hs.csv'", "unknown key `list`; did you mean `hs_list`?"),
        ('[agreement]\nbins = ["1-2", "2.5-5"]', "bins are for numbers on a scale, and `label: one_of"),
        ('[study]\nscheme = "scale(1,5,1,positive=4)"\n[agreement]\nbins = ["1-2", "4-5"]', "no bin has 3"),
        ("[study", "not TOML"),
        ("[study]\n[study]", "not TOML"),
    ],
)
def test_a_recipe_that_cannot_be_used(tmp_path: Path, content: str, problem: str) -> None:
    with pytest.raises(RecipeError, match=problem) as caught:
        load(tmp_path, content)
    assert str(caught.value).startswith(str(tmp_path / "recipe.toml"))


def errors_of(folder: Path, content: str) -> list[str]:
    """What is wrong with a recipe, without its path."""
    path = written(folder, content)
    with pytest.raises(RecipeError) as caught:
        load_recipe(path)
    return [line.replace(f"{path}: ", "") for line in str(caught.value).splitlines()]


def test_several_errors_are_listed_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    listed = {
        "[retrieve]\nmodle = 'x'\nk = '2'\n[select]\nhs = 3\n[pair]\ncandidates = 2.5": [
            "[retrieve]: unknown key `modle`; did you mean `model`?",
            "[retrieve]: k is '2'; expected a whole number, 1 or more",
            "[pair]: candidates is 2.5; expected a whole number, 1 or more",
        ],
        "[retreive]\n[pair]\nsed = 1\n": [
            "unknown section `retreive`; did you mean `retrieve`?",
            "[pair]: unknown key `sed`; did you mean `seed`?",
        ],
        "[select]\nhs = 3\n[pair]\nsed = 1": ["[pair]: unknown key `sed`; did you mean `seed`?"],
        "[import]\npth = 'c.csv'": ["[import]: unknown key `pth`; did you mean `path`?"],
        "[[grid]]\nname = 'a'\nrow_name = 1": [
            "[[grid]] a: `rows` is missing",
            "[[grid]] a: `columns` is missing",
            "[[grid]] a: `round` is missing",
            "[[grid]] a: row_name is 1; expected a text",
        ],
        "[retrieve]\nk = 0\nmodel = 1\ndepth = -1": [
            "[retrieve]: k is 0; expected a whole number, 1 or more",
            "[retrieve]: model is 1; expected a text",
            "[retrieve]: depth is -1; expected a whole number, 1 or more",
        ],
    }
    for content, messages in listed.items():
        path = written(tmp_path, content)
        with pytest.raises(RecipeError) as caught:
            load_recipe(path)
        if len(messages) == 1:
            assert str(caught.value) == f"{path}: {messages[0]}"
            continue
        assert caught.value.findings == tuple(Finding(str(path), None, message) for message in messages)
        head = f"{path}: {len(messages)} things are wrong; nothing was changed"
        assert str(caught.value).splitlines() == [head, *(f"  {path}: {message}" for message in messages)]


def test_sections_are_checked_against_each_other_once_each_is_right(tmp_path: Path) -> None:
    unfit_bins = '[agreement]\nbins = ["1-2", "2.5-5"]\n'
    (error,) = errors_of(tmp_path, unfit_bins)
    assert error.startswith("bins are for numbers on a scale")
    assert errors_of(tmp_path, f"{unfit_bins}level = 'x'") == ["[agreement]: level is 'x'; expected a number"]


def test_what_is_no_file_of_text_is_no_recipe(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"[study]\ntitle = 'caf\xe9'")
    for name, message in {
        "none.toml": r"none\.toml: there is no such recipe",
        ".": "cannot be read",
        "latin.toml": "not TOML",
    }.items():
        with pytest.raises(RecipeError, match=message):
            load_recipe(tmp_path / name)


# -- what a run keeps


def test_a_run_keeps_plain_values(tmp_path: Path) -> None:
    kept = as_params(Import(path=tmp_path / "c.csv"))
    columns = ("hs_id_column", "cn_id_column", "language_column")
    reading = ("sheet_name", "encoding", "separator", "cn_path", "cn_sheet_name", "cn_encoding", "cn_separator")
    set_values: dict[str, Any] = {"path": str(tmp_path / "c.csv"), "hs_column": "hs", "cn_column": "cn"}
    set_values |= dict.fromkeys(("unpaired", "no_header", "cn_no_header"), False)
    assert kept == {**dict.fromkeys(("reader", "only_language", *columns, *reading)), **set_values}
    assert as_params(Assign(overlap={2: 0.1}))["overlap"] == {"2": 0.1}
    assert as_params(Setup())["scheme"] == "one_of(not_appropriate,not_sure?,appropriate+)"
