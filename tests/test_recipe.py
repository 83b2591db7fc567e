"""The recipe: what it may say, what it means when it is silent, and what is refused."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

from fcpair import params
from fcpair.errors import Finding, InputError, RecipeError
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


def section(folder: Path, content: str) -> Any:
    """The only section of a recipe, as it was read."""
    recipe = load(folder, content)
    name = content.removeprefix("[").split("]", maxsplit=1)[0]
    return getattr(recipe, {"study": "setup", "import": "import_"}.get(name, name))


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


def test_an_empty_recipe_has_no_stages_but_the_readings_that_need_none(tmp_path: Path) -> None:
    assert load(tmp_path, "") == Recipe()


def test_the_defaults_are_fc_conans_or_the_careful_ones() -> None:
    assert Setup().scheme == str(APPROPRIATENESS)
    assert (Retrieve().k, Retrieve().model, Retrieve().count_duplicates) == (2, "all-MiniLM-L6-v2", False)
    assert (Adjudicate().policy, Adjudicate().ties, Partition().diamond) == ("manual", "wait", "unanimous")
    assert not Validate().blind


@pytest.mark.parametrize("options", OPTIONS)
def test_every_parameter_is_explained(options: type) -> None:
    assert options.__doc__
    for item in fields(options):
        assert item.metadata["help"].strip(), item.name


@pytest.mark.parametrize("options", OPTIONS)
def test_only_the_corpus_has_no_default(options: type) -> None:
    needed = [item.name for item in fields(options) if item.default is item.default_factory is MISSING]
    assert needed == (["path"] if options is Import else [])


def test_every_stage_has_its_options_in_this_test() -> None:
    assert {options.__name__ for options in OPTIONS} >= {"Setup", "Import", "Assign", "Agree", "Partition", "Export"}
    assert len(OPTIONS) == 18


@pytest.mark.parametrize("memory_mb", [15, 0, -1])
def test_too_little_memory_is_refused(memory_mb: int) -> None:
    with pytest.raises(InputError, match=f"memory_mb is {memory_mb}; expected a whole number, 16 or more"):
        Retrieve(memory_mb=memory_mb)


def test_overlap_is_shares_by_number_of_labels(tmp_path: Path) -> None:
    read = section(tmp_path, "[assign]\noverlap = {2 = 0.126, 3 = 0.05}")
    assert read.overlap == {2: 0.126, 3: 0.05}


def test_groups_are_lists_of_names(tmp_path: Path) -> None:
    read = section(tmp_path, '[assign]\noverlap = {2 = "20%"}\nannotator_groups = [["ana", "ben"], ["eva"]]')
    assert (read.annotator_groups, read.overlap) == ((("ana", "ben"), ("eva",)), {2: 0.2})


def test_a_whole_number_will_do_for_a_share(tmp_path: Path) -> None:
    accuracy = section(tmp_path, "[simulate]\naccuracy = 1").accuracy
    assert (accuracy, type(accuracy)) == (1.0, float)


def test_a_scheme_of_ones_own(tmp_path: Path) -> None:
    read = section(
        tmp_path,
        """[study]
        scheme = [
            {code = 1, name = "yes", positive = true},
            {code = 0, name = "no"},
            {code = 2, name = "unsure", definite = false},
        ]""",
    )
    assert read.scheme == "one_of(no,yes+,unsure?)"
    assert section(tmp_path, "[study]\nscheme = ' one_of( no,yes+ , unsure? )'").scheme == read.scheme


def test_paths_are_relative_to_the_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert section(tmp_path, '[import]\npath = "data/c.csv"').path == tmp_path / "data" / "c.csv"
    assert section(tmp_path, '[import]\npath = "/data/c.csv"').path == Path("/data/c.csv")
    assert section(tmp_path, '[select]\nhs_list = "hs.csv"').hs_list == tmp_path / "hs.csv"


@pytest.mark.parametrize("name", ["$CORPORA/c.csv", "${CORPORA}/c.csv"])
def test_environment_variables_stand_in_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("CORPORA", "/corpora")
    assert section(tmp_path, f'[import]\npath = "{name}"').path == Path("/corpora/c.csv")


def test_a_text_that_is_no_path_keeps_its_dollar(tmp_path: Path) -> None:
    assert section(tmp_path, '[study]\ntitle = "$5 replies"').title == "$5 replies"


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
        ("[retrieve]\nk = '2'", r"\[retrieve\]: k is '2'; expected a whole number"),
        ("[retrieve]\nk = 2.0", r"\[retrieve\]: k is 2.0; expected a whole number"),
        ("[retrieve]\nk = true", r"\[retrieve\]: k is True; expected a whole number"),
        ("[retrieve]\ncount_duplicates = 1", "count_duplicates is 1; expected True or False"),
        ("[retrieve]\nmodel = 1", "model is 1; expected a text"),
        ("[simulate]\naccuracy = true", "accuracy is True; expected a number"),
        ("[select]\nhs = 'all'", "hs is 'all'; expected a whole number, 1 or more"),
        ("[import]\npath = 1", "path is 1; expected the name of a file"),
        ("[import]\npath = 'c'\nreader = 'xml'", "reader is 'xml'; expected one of conan, mt-conan, csv"),
        ("[adjudicate]\npolicy = ['majority']", "expected one of manual, majority"),
        ("[assign]\noverlap = 0.1", "overlap is 0.1; expected a table of values by names"),
        ("[assign]\noverlap = {two = 0.1}", "overlap `two` with the share `0.1` cannot be read"),
        ("[assign]\noverlap = {2 = 'some'}", "overlap `2` with the share `some` cannot be read"),
        ("[assign]\noverlap = {2 = 0.1, 02 = 0.2}", "overlap has two shares for 2 labels"),
        ('[evaluate]\nsystems = ["tfidf"]\nmeasures = ["NDCG@5"]\ncutoff = 5', "every measure has a cutoff of its own"),
        ("[assign]\nannotators = 100000000", "expected a whole number from 1 to 10,000"),
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
        ("[agreement]\nweights = 'cubic'", r"\[agreement\]: weights is 'cubic'; expected one of none, linear"),
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
    recipe = "[retrieve]\nmodle = 'x'\nk = '2'\n[select]\nhs = 3\n[pair]\ncandidates = 2.5"
    path = written(tmp_path, recipe)
    with pytest.raises(RecipeError) as caught:
        load_recipe(path)
    assert str(caught.value) == "\n".join(
        [
            f"{path}: 3 things are wrong; nothing was changed",
            f"  {path}: [retrieve]: unknown key `modle`; did you mean `model`?",
            f"  {path}: [retrieve]: k is '2'; expected a whole number, 1 or more",
            f"  {path}: [pair]: candidates is 2.5; expected a whole number, 1 or more",
        ]
    )


def test_several_errors_are_findings(tmp_path: Path) -> None:
    path = written(tmp_path, "[retreive]\n[pair]\nsed = 1\n")
    with pytest.raises(RecipeError) as caught:
        load_recipe(path)
    assert caught.value.findings == (
        Finding(str(path), None, "unknown section `retreive`; did you mean `retrieve`?"),
        Finding(str(path), None, "[pair]: unknown key `sed`; did you mean `seed`?"),
    )


def test_a_single_error_stands_alone(tmp_path: Path) -> None:
    path = written(tmp_path, "[select]\nhs = 3\n[pair]\nsed = 1")
    with pytest.raises(RecipeError) as caught:
        load_recipe(path)
    assert str(caught.value) == f"{path}: [pair]: unknown key `sed`; did you mean `seed`?"


def test_every_key_that_is_missing_is_named(tmp_path: Path) -> None:
    assert errors_of(tmp_path, "[[grid]]\nname = 'a'\nrow_name = 1") == [
        "4 things are wrong; nothing was changed",
        "  [[grid]] a: `rows` is missing",
        "  [[grid]] a: `columns` is missing",
        "  [[grid]] a: `round` is missing",
        "  [[grid]] a: row_name is 1; expected a text",
    ]


def test_a_misspelled_key_is_not_called_missing_as_well(tmp_path: Path) -> None:
    assert errors_of(tmp_path, "[import]\npth = 'c.csv'") == ["[import]: unknown key `pth`; did you mean `path`?"]


def test_values_out_of_bounds_are_listed_with_those_of_the_wrong_kind(tmp_path: Path) -> None:
    assert errors_of(tmp_path, "[retrieve]\nk = 0\nmodel = 1\ndepth = -1") == [
        "3 things are wrong; nothing was changed",
        "  [retrieve]: k is 0; expected a whole number, 1 or more",
        "  [retrieve]: model is 1; expected a text",
        "  [retrieve]: depth is -1; expected a whole number, 1 or more",
    ]


def test_sections_are_checked_against_each_other_once_each_is_right(tmp_path: Path) -> None:
    unfit_bins = '[agreement]\nbins = ["1-2", "2.5-5"]\n'
    (error,) = errors_of(tmp_path, unfit_bins)
    assert error.startswith("bins are for numbers on a scale")
    assert errors_of(tmp_path, f"{unfit_bins}level = 'x'") == ["[agreement]: level is 'x'; expected a number"]


def test_a_recipe_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"none\.toml: there is no such recipe"):
        load_recipe(tmp_path / "none.toml")


def test_a_folder_is_no_recipe(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="cannot be read"):
        load_recipe(tmp_path)


def test_a_recipe_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_bytes(b"[study]\ntitle = 'caf\xe9'")
    with pytest.raises(RecipeError, match="not TOML"):
        load_recipe(path)


# -- what a run keeps


def test_a_run_keeps_plain_values(tmp_path: Path) -> None:
    kept = as_params(Import(path=tmp_path / "c.csv"))
    assert kept == {
        **{"path": str(tmp_path / "c.csv"), "reader": None, "only_language": None},
        **{"hs_column": "hs", "cn_column": "cn"},
        **{"hs_id_column": None, "cn_id_column": None, "unpaired": False, "language_column": None, "sheet_name": None},
    }
    assert as_params(Assign(overlap={2: 0.1}))["overlap"] == {"2": 0.1}
    assert as_params(Setup())["scheme"] == "one_of(not_appropriate,not_sure?,appropriate+)"
