"""A release: a study frozen as a folder that others can cite, load and check."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from fcpair.errors import InputError, StageError
from fcpair.files.release.croissant import CROISSANT, croissant_text
from fcpair.files.release.documents import document_texts
from fcpair.files.release.redaction import Redaction, escape_html
from fcpair.files.release.release_facts import DATA, ReleaseFacts, ReleaseTable
from fcpair.files.release.release_form import FORM_FILE, ReleaseForm, read_form
from fcpair.files.release.sha256sums import digest_file, write_sums
from fcpair.files.tables.folders import check_new_folder, new_folder
from fcpair.files.tables.tabular import format_csv, write_table
from fcpair.params import LONGEST_NAME
from fcpair.records import RunRecord
from fcpair.steps.base.context import StudyContext, note_run
from fcpair.steps.oversight.doctor import RELEASE, study_digests
from fcpair.steps.oversight.study_recipe import recipe_text_of
from fcpair.steps.publication.release_privacy import (
    Pseudonyms,
    Withheld,
    load_redaction,
    load_withheld,
    public_log,
)
from fcpair.steps.publication.release_tables import GridTables
from fcpair.steps.publication.study_facts import AGREEMENT_COLUMNS, agreement_rows, load_facts, load_runs
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import runs
from fcpair.store.people import guidelines

RECORD, GUIDELINES, AGREEMENT = "release.json", "guidelines.md", "agreement.csv"
JOIN_SCRIPT = "join_texts.py"
_NAME = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True)
class ReleaseContent:
    """All that a release holds: its tables, its other files by their paths, and what the study notes of it."""

    facts: ReleaseFacts
    files: Mapping[str, str]
    record: Mapping[str, Any]


def release_study(
    study: StudyContext,
    name: str,
    folder: str | Path,
    form: ReleaseForm | str | Path,
    *,
    seed: int = 0,
    texts: bool = True,
    draft: bool = False,
) -> RunRecord:
    """Freeze the study as a folder with tiers, labels, answers of planned grids, and documents; and note it.

    The same study, form, seed and versions give the same bytes.

    Args:
        name: by which it is cited; it is taken once a release of that name had other content.
        folder: a new or an empty folder.
        form: what only people know, or its file (`release.toml`).
        seed: that pseudonyms are drawn from; with the same one people keep theirs from release to release.
        texts: whether texts are in it; else their digests are.
        draft: whether keys of the form may be missing.

    Raises:
        InputError: the name, the form or the folder cannot be used, or keys of the form are missing.
        StageError: nothing has been answered yet.
    """
    check_name(name)
    check_new_folder(folder)
    form = form if isinstance(form, ReleaseForm) else read_form(form)
    if form.missing and not draft:
        keys = ", ".join(f"`{path}`" for path in form.missing)
        raise InputError(f"{FORM_FILE} lacks {keys}; fill them in, or release a draft (`--draft`)")
    with study._store.read() as tx:
        content = load_content(tx, name, form, seed=seed, texts=texts)
    with new_folder(folder) as temporary:
        digest = write_content(content, temporary)
        with study._store.write() as tx:
            _check_untaken(tx, name, digest)
            _add_releases(tx, content, Path(folder), temporary)
            params = {"name": name, "seed": seed, "texts": texts, "draft": draft, "out": str(folder)}
            pairs = {"pairs": content.record["pairs"]} if content.facts.tiers else {}
            counts = {"tables": len(content.facts.tables), **pairs, "digest": digest}
            return note_run(tx, RELEASE, params, counts)


def check_name(name: str) -> None:
    """Raise InputError unless a release can have this name."""
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise InputError(
            f"`{name}` cannot name a release; use at most {LONGEST_NAME} letters, digits, `_`, `-` and `.`"
        )


def load_content(
    tx: Tx, name: str, form: ReleaseForm, *, seed: int, texts: bool, last_run: int | None = None
) -> ReleaseContent:
    """What a release of this study holds, with its log up to a run; raises StageError where nothing was answered."""
    pseudonyms, log, withheld = Pseudonyms(tx, seed), load_runs(tx, last_run, RELEASE), load_withheld(tx)
    redaction = load_redaction(tx, pseudonyms, log)
    published_log = public_log(tx, log, redaction)
    parts = _load_grids(tx, pseudonyms, redaction, withheld)
    tables = parts.tables if texts else [table.without_texts() for table in parts.tables]
    facts = load_facts(
        tx, name, form, tables, published_log.lines, parts.agreement, redaction, withheld, has_texts=texts
    )
    newest_run = log[-1].id if log else 0
    hidden = pseudonyms.ids  # of a bare digest names could be guessed, and the number of runs counts acts on people
    record = {
        "name": name,
        "fcpair": facts.version,
        "seed": seed,
        "texts": texts,
        "last_run": hidden.encrypt(RELEASE, newest_run + 1),
        "study": pseudonyms.study_key,
        "pseudonyms": pseudonyms.key,
        "digests": {part: hidden.digest_id(RELEASE, of) for part, of in study_digests(tx, newest_run).items()},
        "rules": parts.rules,
        "pairs": {table.name: len(table.rows) for table in facts.tiers},
    }
    guideline_text = escape_html(redaction.clean_text(guidelines.current_version(tx)[1]))
    other_files = {
        **({GUIDELINES: guideline_text} if facts.guidelines_version else {}),
        "scheme.json": _as_json(parts.scheme),
        "recipe.toml": redaction.clean_toml(recipe_text_of(tx, pseudonyms.by_name, published_log.line_numbers)),
        "runs.jsonl": "".join(
            json.dumps(run, ensure_ascii=False, sort_keys=True) + "\n" for run in published_log.lines
        ),
        **({AGREEMENT: _agreement_csv(parts.agreement)} if facts.has_agreement else {}),
        **{f"qrels/{tier}.qrels": lines for tier, lines in parts.qrels.items()},
        **({} if texts else {JOIN_SCRIPT: _join_script()}),
        FORM_FILE: form.as_toml(),
        RECORD: _as_json(record),
        **document_texts(facts),
    }
    return ReleaseContent(facts, other_files, record)


class _GridParts(NamedTuple):
    """What all grids of a study give to a release; `scheme` and `rules` by the name of the grid, and of each round
    whether it is answered.
    """

    tables: list[ReleaseTable]
    qrels: dict[str, str]
    agreement: list[dict[str, Any]]
    scheme: dict[str, Any]
    rules: dict[str, dict[str, str]]
    answered: list[bool]


def _load_grids(tx: Tx, pseudonyms: Pseudonyms, redaction: Redaction, withheld: Withheld) -> _GridParts:
    parts = _GridParts([], {}, [], {}, {}, [])
    for key in grids.for_each_grid(tx):
        grid = GridTables(tx, key, pseudonyms, withheld)
        parts.tables.extend(grid.tables())
        parts.qrels.update(grid.qrels())
        parts.agreement.extend(agreement_rows(tx, key, redaction))
        parts.scheme[key.name] = _scheme(tx)
        parts.answered.extend(bool(judgements.answered_cells(tx, round_)) for round_ in rounds.answer_rounds(tx))
        if grid.tiers:
            parts.rules[key.name] = {rule.tier: str(rule) for rule in grid.tiers.rules}
    if all(table.is_side for table in parts.tables):
        if any(parts.answered):
            raise StageError(
                "nothing can be released of this study yet: of what respondents answer, a release has only how many "
                "people gave each answer to a closed question, in cells of five people or more"
            )
        raise StageError("`release` needs labels or answers first; run `fcpair labels import` or `fcpair simulate`")
    _check_table_names([table.name for table in parts.tables])
    return parts


def _check_table_names(names: Sequence[str]) -> None:
    """Raise InputError where two tables would be the same file, as a tier called `labels` would be."""
    n_by_file = Counter(name.casefold() for name in names)
    if twice := [name for name in names if n_by_file[name.casefold()] > 1]:
        raise InputError(
            f"two tables of this release would be called `{twice[0]}`; give the tier of that name another one, in the "
            "section `partition.own_tiers` of the recipe"
        )


def write_content(content: ReleaseContent, folder: Path) -> str:
    """Write a release into an empty folder; returns the digest of its SHA256SUMS."""
    (folder / DATA).mkdir()
    for table in content.facts.tables:
        for suffix in (".parquet", ".csv"):
            write_table(table.rows, folder / f"{table.path}{suffix}")
    for path, text in content.files.items():
        place = folder / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(text, "utf-8", newline="\n")
    paths = [f"{table.path}.parquet" for table in content.facts.tables]
    croissant = croissant_text(content.facts, {path: digest_file(folder / path) for path in paths})
    (folder / CROISSANT).write_text(croissant, "utf-8", newline="\n")
    return write_sums(folder)


def _scheme(tx: Tx) -> list[dict[str, Any]]:
    return [
        {"round": one.name, "role": one.role.value, "form": one.form, "counts": one.counts}
        for one in rounds.of_grid(tx)
    ]


def _agreement_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    return format_csv([AGREEMENT_COLUMNS, *([row[name] for name in AGREEMENT_COLUMNS] for row in rows)])


def _join_script() -> str:
    return files("fcpair.files.release").joinpath(JOIN_SCRIPT).read_text("utf-8")


def _as_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _check_untaken(tx: Tx, name: str, digest: str) -> None:
    """Raise InputError where a release of this name had other content."""
    for run in runs.runs(tx, RELEASE):
        if run.params["name"] == name and run.counts["digest"] != digest:
            raise InputError(
                f"the name `{name}` is taken by a release of {run.at[:10]} with other content (run {run.id}, digest "
                f"{run.counts['digest'][:16]}); choose another name"
            )


def _add_releases(tx: Tx, content: ReleaseContent, folder: Path, written: Path) -> None:
    """Note each frozen tier."""
    for table in content.facts.tiers:
        path = f"{table.path}.parquet"
        rule = {"rule": table.rule, "release": content.facts.name, "table": table.name}
        counts = {"pairs": len(table.rows)}
        runs.add_release(tx, table.tier, rule, counts, str(folder / path), digest_file(written / path))
