"""Every command as it may be called, on the small study or one of BUILT, and the files that it reads then."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from steps.small import open_work, write_corpus, write_csv

from cli.test_commands import ALL, found
from fcpair.files.tables.folders import SUMS, write_sums
from fcpair.study import Study

# Each command as it may be called: the stage of the small study, or one of BUILT, and what follows its name.
CALLS: dict[tuple[str, ...], tuple[str, str]] = {
    ("init",): ("empty", "--study {folder}/new.db --title …"),
    ("import",): ("empty", "{corpus} --only-language en"),
    ("select",): ("imported", "--hs 3"),
    ("pair",): ("retrieved", ""),
    ("extend",): ("dealt", "--hs 1"),
    ("plan",): ("paired", "--annotators 2"),
    ("calibrate", "start"): ("paired", "--annotators 2"),
    ("calibrate", "discuss"): ("calibrating", "--early"),
    ("calibrate", "close"): ("discussing", "--early"),
    ("calibrate", "show"): ("discussing", ""),
    ("assign",): ("paired", "--annotators 2"),
    ("further",): ("labelled", "--if-tied 1"),
    ("people", "add"): ("dealt", "زهرا"),
    ("people", "list"): ("dealt", ""),
    ("people", "invite"): ("dealt", "ana"),
    ("people", "revoke"): ("dealt", "ana"),
    ("people", "rotate-secret"): ("dealt", "--yes"),
    ("people", "terms"): ("dealt", ""),
    ("people", "forget"): ("dealt", "ana"),
    ("people", "role"): ("labelled", "ana validator"),
    ("people", "retire"): ("dealt", "ana"),
    ("people", "dismiss"): ("labelled", "ana --yes"),
    ("people", "pilot"): ("piloted", "--grid write"),
    ("people", "qualify"): ("known", "{folder}/qualification.csv"),
    ("people", "controls"): ("known", "{folder}/controls.csv"),
    ("people", "qualified"): ("below_the_mark", ""),
    ("people", "let-on"): ("below_the_mark", "ana"),
    ("people", "handover"): ("dealt", "ana"),
    ("labels", "sheets"): ("dealt", "{folder}/…"),
    ("labels", "import"): ("dealt", "{label}"),
    ("labels", "withdraw"): ("labelled", "{label_run}"),
    ("labels", "rename"): ("labelled", "appropriate suitable --reason …"),
    ("labels", "merge"): ("four_labels", "suitable great --into … --reason …"),
    ("labels", "split"): ("labelled", "appropriate --into kind+ --into … --reason …"),
    ("labels", "add"): ("labelled", "… --reason …"),
    ("labels", "export"): ("labelled", "--out {folder}/é.csv"),
    ("answers", "export"): ("labelled", "--out {folder}/ö.csv"),
    ("answers", "sheets"): ("dealt", "{folder}/…"),
    ("answers", "import"): ("dealt", "{answers}"),
    ("answers", "refusals"): ("labelled", ""),
    ("answers", "replies"): ("curated", "--round propose --out {folder}/ï.csv"),
    ("answers", "withdraw"): ("labelled", "{label_run}"),
    ("simulate",): ("dealt", ""),
    ("generate",): ("unasked", "--round propose"),
    ("curation",): ("curated", ""),
    ("examples", "find"): ("shown", "--grid replies --round propose --redo"),
    ("examples", "list"): ("shown", "--grid replies --round propose"),
    ("examples", "sheet"): ("shown", "--grid replies --round propose {folder}/ë.csv"),
    ("examples", "review"): ("shown", "--grid replies --round propose {folder}/reviewed.csv"),
    ("grids",): ("dealt", ""),
    ("status",): ("checked", ""),
    ("agreement",): ("labelled", ""),
    ("blocks",): ("extended", ""),
    ("ranking",): ("compared", "--grid rank"),
    ("aggregate",): ("labelled", ""),
    ("groups",): ("surveyed", ""),
    ("adjudicate",): ("decided", ""),
    ("validate", "assign"): ("decided", "--validators 2"),
    ("validate", "sheets"): ("checking", "{folder}/v"),
    ("validate", "import"): ("checking", "{validate}"),
    ("validate", "withdraw"): ("checked", "{validate_run}"),
    ("partition",): ("checked", "--tier bronze"),
    ("explain",): ("checked", "6"),
    ("evaluate",): ("checked", "--system tfidf --system random --tier bronze --tier silver"),
    ("measure",): ("empty", "{corpus} --text cn --reference hs --measure dist-2 --measure gleu"),
    ("export", "qrels"): ("checked", "--tier bronze --out {folder}/q"),
    ("export", "beir"): ("checked", "--tier bronze --out {folder}/b"),
    ("export", "hf"): ("checked", "--out {folder}/h"),
    ("export", "triplets"): ("checked", "--tier bronze --test-share 0.5 --out {folder}/t"),
    ("export", "pairs"): ("checked", "--tier bronze --test-share 0.5 --out {folder}/p"),
    ("export", "preferences"): ("checked", "--tier bronze --test-share 0.5 --out {folder}/f"),
    ("export", "corpus"): ("checked", "--without bronze --out {folder}/c.csv"),
    ("export", "decisions"): ("checked", "--out {folder}/d.csv"),
    ("release",): ("checked", "v1 --out {folder}/é --form {form}"),
    ("verify",): ("empty", "{release}"),
    ("diff",): ("empty", "{release} {release}"),
    ("recipe",): ("checked", ""),
    ("export", "texts"): ("shown", "--grid write --out {folder}/w.csv"),
    ("describe",): ("labelled", "--text label --row row --by by --labels label"),
    ("split",): ("labelled", "--cluster row --labels label --share 0.5"),
    ("report",): ("checked", "--out {folder}/r.html"),
    ("log",): ("checked", ""),
    ("note",): ("dealt", "…"),
    ("methods",): ("checked", ""),
    ("run",): ("empty", "{recipe} --study {folder}/run.db"),
    ("classify",): ("empty", "{texts} --truth type --predicted guess"),
    ("correlate",): ("empty", "{texts} --score score --rating rating"),
    ("ratings",): ("empty", "{texts} --rating rating --source type --rater who"),
    ("ask", "import"): ("dealt", "{statements}"),
    ("ask", "open"): ("planned", "--respondents 2"),
    ("ask", "results"): ("surveyed", ""),
    ("items", "expand"): ("empty", "{templates} --count"),
    ("diversity",): ("empty", "{templates}"),
    ("bias", "score"): ("empty", "{said} --as bbq --answer model"),
    ("backup",): ("checked", "{folder}/é.backup"),
    ("restore",): ("checked", "{backup} --study {folder}/é.db"),
    ("copy",): ("checked", "{study} {folder}/é.db"),
    ("doctor",): ("checked", ""),
    ("upgrade",): ("checked", ""),
}
ANSWERED = [
    {
        **{"category": "sleep – late", "question_index": "1", "question_polarity": "neg", "context_condition": "ambig"},
        "answer_info": {"ans0": ["owl", "owls"], "ans1": ["lark", "larks"], "ans2": ["unknown", "unknown"]},
        "additional_metadata": {"stereotyped_groups": ["owls"]},
        **{"ans0": "the owl", "ans1": "the lark", "ans2": "not said", "label": 2, "model": answer},
    }
    for answer in ("the owl", "not said", "…")
]
NO_CALL = {("serve",), ("retrieve",)}  # one does not end by itself, and one wants a model
ENCODERS = {("examples", "find"), ("diversity",)}  # which load an encoder
LEAVES = [path for path in ALL if not hasattr(found(path), "commands") and path not in NO_CALL]
LEAVES_OR_SLOW = [
    pytest.param(one, marks=[pytest.mark.slow, pytest.mark.torch]) if one in ENCODERS else one for one in LEAVES
]


OF_EXAMPLES = {"templates": "survey-templates.toml", "statements": "survey-statements.csv", "form": "release.toml"}
EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = (
    *("backup", "corpus", "label", "validate", "label_run", "validate_run", "answers", "recipe", "texts", "templates"),
    *("statements", "form", "release", "said"),
)


def files_for(folder: Path, study: Path, words: str | None = None) -> dict[str, str]:
    """The files that CALLS name, for what is open in a study: all of them, or those that are named in these words."""
    names = [name for name in FILES if words is None or f"{{{name}}}" in words]
    made = {"folder": str(folder), "study": str(study)}
    if names:
        with closing(Study(study)) as opened:
            made |= {name: make(name, folder, opened) for name in names}
    return made


def make(name: str, folder: Path, study: Study) -> str:
    """Make one of FILES; returns where it is, or what it is."""
    answers = {"label": ("annotator", "label", "NOT SURE"), "validate": ("validator", "verdict", "agree")}
    if name in answers:
        person, column, answer = answers[name]
        work = open_work(study, checks=name == "validate")
        rows = [{"pair": pair, person: who, column: answer, "note": "é…"} for who, pair in work]
        return str(write_csv(folder / f"{name}.csv", rows or [{"pair": 1}]))
    match name:
        case "backup":
            if not (path := folder / "ü.backup").exists():
                Study.back_up(Path(study.place), path)
        case "corpus":
            path = write_corpus(folder / "k.csv")
        case "label_run" | "validate_run":
            imports = [run.id for run in study.log() if run.stage == f"{name.removesuffix('_run')} import"]
            return str(imports[-1]) if imports else ""
        case "answers":
            rows = [{"cell": cell, "by": who, "label": "NOT SURE", "note": "é…"} for who, cell in open_work(study)]
            path = write_csv(folder / "answers.csv", rows or [{"cell": 1}])
        case "recipe":
            corpus, path = write_corpus(folder / "k.csv"), folder / "r.toml"
            path.write_text(f'[study]\ntitle = "…"\n[import]\npath = "{corpus}"\n', "utf-8")
        case "texts":
            columns = ("type", "guess", "score", "rating", "who")
            texts = [("é", "é", 1, 2, "ana"), ("ö", "é", 2, 3, "زهرا"), ("…", "…", 3, 5, "ana")]
            path = write_csv(folder / "t.csv", [dict(zip(columns, text, strict=True)) for text in texts])
        case "release":
            path = empty_release(folder / "ä")
        case "said":
            path = folder / "said.jsonl"
            path.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in ANSWERED), "utf-8")
        case _:
            path = EXAMPLES / OF_EXAMPLES[name]
    return str(path)


def empty_release(folder: Path) -> Path:
    """The folder of a release without a pair."""
    folder.mkdir(exist_ok=True)
    record = {"name": "…", "seed": 0, "texts": True, "last_run": 0, "study": 1, "pseudonyms": 1, "rules": {"main": {}}}
    (folder / "release.json").write_text(json.dumps(record), "utf-8")
    (folder / SUMS).unlink(missing_ok=True)
    write_sums(folder)
    return folder
