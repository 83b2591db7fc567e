"""A release: a study frozen as a folder, whether a folder is what a study gives, and how two differ."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.resources import files
from operator import itemgetter
from pathlib import Path, PurePath
from typing import Any

from fcpair.errors import InputError, StageError, at_fault, show_foreign
from fcpair.files.release.documents import CROISSANT, croissant_text, document_texts
from fcpair.files.release.redaction import Redaction, escape_html
from fcpair.files.release.release_diff import RECORD_SHAPE, ReleaseChanges, compare_releases, find_misfit
from fcpair.files.release.release_facts import (
    DATA,
    FORM_FILE,
    NO_TEXTS,
    ReleaseFacts,
    ReleaseForm,
    ReleaseTable,
    read_form,
)
from fcpair.files.tables import folders
from fcpair.files.tables.tabular import format_csv, write_table
from fcpair.params import LONGEST_NAME, MAIN, Agree, Annotate, Ids, is_about_hate
from fcpair.records import GridKey, Origin, Role, Round, RunRecord, Status
from fcpair.sentences import Id, mark, say
from fcpair.stages.questions import Closed
from fcpair.stages.stats.agreement import drop_unfit_bins
from fcpair.steps import release_tables
from fcpair.steps.adjudication.agreement import agreement_blocks, measure_labels
from fcpair.steps.base import context
from fcpair.steps.base.answer_values import current_form, form_of
from fcpair.steps.base.context import StudyContext
from fcpair.steps.oversight.doctor import RELEASE, UNPUBLISHED, study_digests
from fcpair.steps.oversight.study_recipe import recipe_text_of
from fcpair.steps.release.block_report import basis_notes
from fcpair.steps.rules import tallies
from fcpair.steps.rules.tallies import split_unanimous
from fcpair.store import Tx, adjudications, people
from fcpair.store.answers import judgements, relabelling
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import grids, sides
from fcpair.store.oversight import runs, settings
from fcpair.values import parse_json

RECORD, GUIDELINES, AGREEMENT = "release.json", "guidelines.md", "agreement.csv"
JOIN_SCRIPT = "join_texts.py"
_NAME = re.compile(r"\w[\w.-]*")
AGREEMENT_COLUMNS = ("grid", "round", "part", "figure", "value", "low", "high", "n", "undefined", "note")
MAKING_STAGES = ("import", "select", "retrieve", "pair")  # those that come after are done bit by bit, run after run


def release_study(
    study: StudyContext,
    name: str,
    folder: str | Path,
    form: ReleaseForm | str | Path,
    *,
    seed: int = 0,
    texts: bool = True,
    draft: bool = False,
    download: bool = False,
    ids: Ids | None = None,
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
        download: whether the folder goes to whoever asked for it on the pages, so that its name alone is noted.
        ids: the ids of texts in qrels: the corpus's own, or the study's numbers; tables have own ids, but with study.

    Raises:
        InputError: the name, the form or the folder cannot be used, or keys of the form are missing.
        StageError: nothing has been answered yet, or no pair is in a tier, and it is no draft.
    """
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        with at_fault("name"):
            raise InputError.say(
                "a release needs a name, such as v1, of at most %(number)s letters, digits, `_`, `-` and `.`",
                number=LONGEST_NAME,
            )
    folders.check_new_folder(folder)
    form = form if isinstance(form, ReleaseForm) else read_form(form)
    if form.missing and not draft:
        keys = [f"`{path}`" for path in form.missing]
        with at_fault("draft"):
            raise InputError.say(
                "%(file)s lacks %(keys)s; fill them in, or release a draft (`--draft`)", file=FORM_FILE, keys=keys
            )
    noted, how = (Path(folder).name, {runs.DOWNLOAD: True}) if download else (str(folder), {})
    with study._store.read() as tx:
        facts, texts_by_path, record = load_content(tx, name, form, seed=seed, texts=texts, ids=ids)
    is_bare = not any(table.texts for table in facts.tables if not table.is_side)
    if is_bare and not draft:
        with at_fault("draft"):
            raise StageError(NO_TEXTS)
    with folders.new_folder(folder) as temporary:
        digest = write_content(facts, texts_by_path, temporary)
        with study._store.write() as tx:
            for run in runs.runs(tx, RELEASE):
                if run.params["name"] == name and run.counts["digest"] != digest:
                    with at_fault("name"):
                        raise InputError.say(
                            "the name `%(name)s` is taken by a release of %(day)s with other content (run %(run)s, "
                            "digest %(digest)s); choose another name",
                            name=name,
                            day=run.at[:10],
                            run=Id(run.id),
                            digest=run.counts["digest"][:16],
                        )
            for table in facts.tiers:
                path = f"{table.path}.parquet"
                rule = {"rule": table.rule, "release": name, "table": table.name, **how}
                sha256 = folders.digest_file(temporary / path)
                runs.add_release(tx, table.tier, rule, {"pairs": len(table.rows)}, str(Path(noted) / path), sha256)
            params = {"name": name, "seed": seed, "texts": texts, "draft": draft, "out": noted, **how}
            params |= {"ids": ids} if ids else {}
            pairs = {"pairs": record["pairs"]} if facts.tiers or is_bare else {}
            counts = {"tables": len(facts.tables), **pairs, "digest": digest}
            return context.note_run(tx, RELEASE, params, counts)


def load_content(
    tx: Tx, name: str, form: ReleaseForm, *, seed: int, texts: bool, last_run: int | None = None, ids: Ids | None = None
) -> tuple[ReleaseFacts, dict[str, str], dict[str, Any]]:
    """Load the facts, other files by their paths, and record of a release, with the log up to a run."""
    pseudonyms, withheld = release_tables.Pseudonyms(tx, seed), release_tables.load_withheld(tx)
    log = [run for run in runs.runs(tx) if run.stage not in UNPUBLISHED and (last_run is None or run.id <= last_run)]
    redaction = release_tables.load_redaction(tx, pseudonyms, log)
    log_lines, line_numbers = release_tables.public_log(tx, log, redaction)
    tables, agreement, qrels = list[ReleaseTable](), list[dict[str, Any]](), dict[str, str]()
    scheme, rules, changes, is_answered, described_ids = {}, {}, dict[str, Any](), False, dict[str, None]()
    for key in grids.for_each_grid(tx):
        grid = release_tables.GridTables(tx, key, pseudonyms, withheld, ids)
        tables += grid.tables()
        qrels |= grid.qrels()
        agreement += agreement_rows(tx, key, redaction)
        scheme[key.name] = [
            {"round": round_.name, "role": round_.role.value, "form": current_form(round_), "counts": round_.counts}
            for round_ in rounds.of_grid(tx)
        ]
        is_answered |= any(judgements.answered_cells(tx, round_) for round_ in rounds.answer_rounds(tx))
        changes[key.name] = [  # without the reason, which may be for the log alone
            {**{part: past.change[part] for part in ("kind", "labels", "into")}, "at": past.at}
            for past in relabelling.history(tx)
        ]
        if grid.tiers:
            rules[key.name] = {rule.tier: str(rule) for rule in grid.tiers.rules}
            described_ids[grid.described_ids] = None
    if all(table.is_side for table in tables):
        if is_answered:
            raise StageError.say(
                "nothing can be released of this study yet: of what respondents answer, a release has only how many "
                "people gave each answer to a closed question, in cells of five people or more"
            )
        raise StageError.say("`release` needs labels or answers first; run `fcpair labels import` or `fcpair simulate`")
    # as a tier called `labels` would be
    n_by_file = Counter(table.name.casefold() for table in tables)
    if twice := [table.name for table in tables if n_by_file[table.name.casefold()] > 1]:
        raise InputError.say(
            "two tables of this release would be called `%(name)s`; give the tier of that name another one, in the "
            "section `partition.own_tiers` of the recipe",
            name=twice[0],
        )
    tables = tables if texts else [table.without_texts() for table in tables]
    facts = load_facts(tx, name, form, tables, log_lines, agreement, redaction, withheld, has_texts=texts)
    facts = replace(facts, qrels_ids="; ".join(described_ids))
    # Of a bare digest names could be guessed, and the number of runs counts acts on people.
    newest_run, hidden = log[-1].id if log else 0, pseudonyms.ids
    record = {
        "name": name,
        "fcpair": facts.version,
        "seed": seed,
        "texts": texts,
        "ids": ids,
        "last_run": hidden.encrypt(RELEASE, newest_run + 1),
        "study": pseudonyms.study_key,
        "pseudonyms": pseudonyms.key,
        "digests": {part: hidden.digest_id(RELEASE, of) for part, of in study_digests(tx, newest_run).items()},
        "rules": rules,
        **({"labels": changes} if any(changes.values()) else {}),
        "pairs": {table.name: len(table.rows) for table in facts.tiers},
    }
    guideline_text = escape_html(redaction.clean_text(people.current_guidelines(tx)[1]))
    other_files = {
        **({GUIDELINES: guideline_text} if facts.guidelines_version else {}),
        "scheme.json": json.dumps(scheme, indent=2, ensure_ascii=False) + "\n",
        "recipe.toml": redaction.clean_toml(recipe_text_of(tx, pseudonyms.by_name, line_numbers)),
        "runs.jsonl": "".join(json.dumps(run, ensure_ascii=False, sort_keys=True) + "\n" for run in log_lines),
        **({AGREEMENT: _agreement_csv(agreement)} if facts.has_agreement else {}),
        **{f"qrels/{tier}.qrels": lines for tier, lines in qrels.items()},
        **({} if texts else {JOIN_SCRIPT: files("fcpair.files.release").joinpath(JOIN_SCRIPT).read_text("utf-8")}),
        FORM_FILE: form.as_toml(),
        RECORD: json.dumps(record, indent=2, ensure_ascii=False) + "\n",
        **document_texts(facts),
    }
    return facts, other_files, record


def write_content(facts: ReleaseFacts, texts_by_path: Mapping[str, str], folder: Path) -> str:
    """Write a release into an empty folder; returns the digest of its SHA256SUMS."""
    (folder / DATA).mkdir()
    for table in facts.tables:
        for suffix in (".parquet", ".csv"):
            write_table(table.rows, folder / f"{table.path}{suffix}")
    for path, text in texts_by_path.items():
        place = folder / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(text, "utf-8", newline="\n")
    paths = [f"{table.path}.parquet" for table in facts.tables]
    croissant = croissant_text(facts, {path: folders.digest_file(folder / path) for path in paths})
    (folder / CROISSANT).write_text(croissant, "utf-8", newline="\n")
    return folders.write_sums(folder)


def _agreement_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The figures, to twelve digits: those behind depend on the order in which people are summed up."""
    values = ([row[name] for name in AGREEMENT_COLUMNS] for row in rows)
    rounded = ([float(f"{cell:.12g}") if isinstance(cell, float) else cell for cell in row] for row in values)
    return format_csv([AGREEMENT_COLUMNS, *rounded])


def load_facts(
    tx: Tx,
    name: str,
    form: ReleaseForm,
    tables: Sequence[ReleaseTable],
    public_log: Sequence[Mapping[str, Any]],
    agreement: Sequence[Mapping[str, Any]],
    redaction: Redaction,
    withheld: release_tables.Withheld,
    *,
    has_texts: bool,
) -> ReleaseFacts:
    """The facts of a study; `public_log` has its runs as they are published."""
    with grids.on_first_grid(tx):
        study, consent = runs.study_facts(tx), context.effective_options(tx, Annotate, {}).consent
    counts, notes = Counter[str](), list[str]()  # what was carried over counts once
    questions, sources = dict[str, str](), dict[str, None]()
    for key in grids.for_each_grid(tx):
        for round_ in rounds.answer_rounds(tx):
            counts.update(judgements.n_by_origin(tx, round_))
            subject = f"round {round_.name} of grid {key.name}" if context.is_planned(tx) else "the labels"
            labels = None if context.is_planned(tx) else context.labels_of(tx)
            questions[subject] = str(labels.current) if labels else current_form(round_)
        counts.update(judgements.current_verdicts(tx, "origin")["origin"])
        for stage in ("import", context.PLAN):  # whose settings name the files that texts came from
            sources |= dict.fromkeys(_files_in(settings.of_stage(tx, stage), redaction))
        if sample := context.load_sample_size(tx):
            notes.append(f"Grid {key.name}: {sample}")
        changes = tallies.relabelling_notes(tx)
        notes += (redaction.clean_text(f"Grid {key.name}: {change}") for change in changes)
        if merged := sides.spellings(tx):
            n = f"{len({*merged.values()}):,} of its texts ({len(merged):,})"
            notes.append(f"Grid {key.name}: other spellings were merged into {n}")
        if context.is_planned(tx) or context.labels_of(tx):
            notes += basis_notes(tx)
    origins = dict(sorted(counts.items()))
    newest = {(run["stage"], run["params"].get("grid")): run["counts"] for run in public_log}
    steps = [_counted(stage, grid, n) for (stage, grid), n in newest.items() if stage in MAKING_STAGES]
    guidelines_version, guideline_text = people.current_guidelines(tx)
    place = itemgetter("grid", "round", "part")
    defined = {place(row) for row in agreement if row["value"] is not None}  # parts of rounds with a defined figure
    n_by_role, records = Counter(person.role for person in people.people(tx)), dict[str, Any]()
    for run in runs.runs(tx, "generate"):
        records |= run.params.get("models") or {}
    return ReleaseFacts(
        name=name,
        form=form,
        study_title=study["title"],
        hs_name=study["hs_name"],
        cn_name=study["cn_name"],
        about_hate=is_about_hate(study["hs_name"]),
        version=version("fcpair"),
        has_texts=has_texts,
        tables=tables,
        questions=questions,
        guidelines_version=guidelines_version if guideline_text.strip() else 0,
        origins=origins,
        people={role.value: n_by_role[role] for role in Role if n_by_role[role] and role is not Role.MODEL},
        models={
            person.name: str((records.get(person.name) or {}).get("name", ""))
            for person in people.people(tx, Role.MODEL)
        },
        demographics=release_tables.demographic_counts(tx),
        agreement=[row for row in agreement if place(row) in defined],
        has_agreement=bool(agreement),
        sources=list(sources),
        steps=[*steps, *_answers_and_decisions(tx)],
        notes=notes,
        left_out=list(_left_out(tx, withheld)),
        consent=redaction.clean_text(consent) if Origin.ONLINE.value in origins else "",
    )


def agreement_rows(tx: Tx, key: GridKey, redaction: Redaction) -> Iterator[dict[str, Any]]:
    """Agreement in the grid that a transaction is about, over all people, with intervals; see `Agreement.to_frame`."""
    options = replace(context.effective_options(tx, Agree, {}), blocks=None, metadata=None)
    for round_ in rounds.answer_rounds(tx):
        if release_tables.is_survey(round_) or not judgements.answered_cells(tx, round_):
            continue  # from figures of a survey, counts of fewer than five people could be had
        if round_.counts and context.labels_of(tx):
            figures = [("", row) for row in measure_labels(tx, options).rows()]
        else:
            blocks = agreement_blocks(tx, round_, drop_unfit_bins(form_of(round_.form), options))
            figures = [(block.part, row) for block in blocks for row in block.rows()]
        for part, row in figures:
            if not row.get("annotators"):
                place = {"grid": key.name, "round": round_.name, "part": part}
                yield {column: redaction.clean({**row, **place}.get(column)) for column in AGREEMENT_COLUMNS}


def _left_out(tx: Tx, withheld: release_tables.Withheld) -> Iterator[str]:
    n_calibrating, n_known = 0, 0
    for key in grids.for_each_grid(tx):
        n_calibrating += sum(_n_answers(tx, round_) for round_ in rounds.calibration_rounds(tx))
        n_known += sum(_n_answers(tx, round_) for round_ in rounds.of_known_pairs(tx))
        for round_ in rounds.answer_rounds(tx):
            questions = form_of(round_.form).questions if release_tables.is_survey(round_) else ()
            names = [name for name, question in questions if not isinstance(question, Closed)]  # which no table has
            if names and _n_answers(tx, round_):
                which = ", ".join(f"`{name}`" for name in names)
                yield f"What respondents of the grid {key.name} answered to {which} is not counted here"
            edits_answers = (key.name, round_.name) in withheld.rounds and not release_tables.is_survey(round_)
            if edits_answers and _n_answers(tx, round_):
                yield f"The round {round_.name} of the grid {key.name} is left out: it edits what respondents wrote"
        if key.name in withheld.grids:
            yield f"The grid {key.name} is left out: it is made of what respondents wrote"
    if n_calibrating:
        yield f"The {n_calibrating:,} answers of calibration rounds are left out; those that count are among the labels"
    if n_known:
        yield (
            f"The {n_known:,} answers to known pairs (qualification, control pairs) are left out: no label, tier or "
            "figure of agreement rests on them"
        )


def _n_answers(tx: Tx, round_: Round) -> int:
    return sum(judgements.n_by_origin(tx, round_).values())


def _files_in(value: Any, redaction: Redaction) -> Iterator[str]:
    """The files that texts came from, each with the beginning of its digest."""
    if isinstance(value, Mapping) and isinstance(value.get("path"), str) and isinstance(value.get("sha256"), str):
        yield f"{redaction.clean(PurePath(value['path']).name)} (SHA-256 {value['sha256'][:16]}...)"
    for item in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from _files_in(item, redaction)


def _answers_and_decisions(tx: Tx) -> Iterator[str]:
    """The answers of each round that has any, and the decisions of each grid by rule, as `status` counts them."""
    for key in grids.for_each_grid(tx):
        grid = None if key.name == MAIN else key.name
        for round_ in rounds.of_grid(tx):
            counts = assignments.n_by_status(tx, round_)
            n_done, n_skipped = (counts.get(status.value, 0) for status in (Status.DONE, Status.SKIPPED))
            if release_tables.is_survey(round_):  # few skips may be one respondent's
                answers = {"answers and skips": n_done + n_skipped}
            else:
                answers = {"answers": n_done, "skipped": n_skipped}
            if n_done or n_skipped:
                yield _counted(f"round {round_.name}", grid, answers)
        by_rule = Counter(adjudications.current_adjudications(tx, "rule", standing=True)["rule"])
        # Of a survey, on how many statements all agreed tells single answers.
        if by_rule and not release_tables.is_survey(rounds.primary(tx)):
            yield _counted("decisions", grid, split_unanimous(tx, by_rule))


def _counted(what: str, grid: str | None, counts: Mapping[str, Any]) -> str:
    place = f"{what} of grid {grid}" if grid else what
    plain = [f"{key.replace('_', ' ')} {value:,}" for key, value in counts.items() if isinstance(value, int)]
    return f"{place}: {', '.join(plain)}" if plain else place


@dataclass(frozen=True)
class Verification:
    """Findings on a release: digest, number of files, `faults` of the folder, and what a study gives otherwise now."""

    digest: str
    n_files: int
    faults: tuple[str, ...]
    differences: tuple[str, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Return whether nothing was found."""
        return not self.faults and not self.differences


def verify_release(folder: str | Path, study: StudyContext | None = None) -> Verification:
    """Find what was changed, added or missing in a release, and links; and what a `study` gives otherwise now.

    The release may be packed as a zip file. Runs after it are no difference. Raises InputError for no such folder, a
    file that is no zip file, or a release of another study.
    """
    with folders.unpacked(folder) as place:
        return _verify(place, folder, study)


def _verify(place: Path, folder: str | Path, study: StudyContext | None) -> Verification:
    check = folders.check_folder(place)
    if study is None or check[2]:  # what is wrong with it
        return Verification(*check)
    record = read_record(place, folder)
    with study._store.read() as tx:
        pseudonyms = release_tables.Pseudonyms(tx, record["seed"])
        if pseudonyms.study_key != record["study"]:
            message = mark("%(folder)s is a release of another study, or of one that was made anew")
            raise InputError.say(message, folder=str(folder))
        try:
            last_run = pseudonyms.ids.decrypt(RELEASE, record["last_run"]) - 1
            options = {"seed": record["seed"], "texts": record["texts"], "last_run": last_run}
            options["ids"] = record.get("ids")
            content = load_content(tx, record["name"], read_form(place / FORM_FILE), **options)
        except StageError as error:
            return Verification(*check, (say("the study gives no release now: %(why)s", why=str(error)),))
    with tempfile.TemporaryDirectory() as temporary:
        write_content(*content[:2], Path(temporary))
        now = folders.read_sums((Path(temporary) / folders.SUMS).read_bytes())
    before = folders.read_sums((place / folders.SUMS).read_bytes())
    differences = tuple(
        say(_WOULD[path in now, path in before], file=show_foreign(path))
        for path in sorted(now | before)
        if now.get(path) != before.get(path)
    )
    return Verification(*check, differences)


_WOULD = {
    (False, True): mark("%(file)s would be missing"),
    (True, True): mark("%(file)s would differ"),
    (True, False): mark("%(file)s would be new"),
}


def read_record(place: Path, folder: str | Path) -> dict[str, Any]:
    """The record of how a release was made; raises InputError, which names the `folder`, where it has none."""
    try:
        record: dict[str, Any] = parse_json((place / RECORD).read_text("utf-8"))
    except (OSError, ValueError) as error:
        message = mark("%(folder)s: is no release: %(file)s cannot be read (%(why)s)")
        raise InputError.say(message, folder=str(folder), file=RECORD, why=str(error)) from None
    if misfit := find_misfit(record, RECORD_SHAPE):
        message = mark("%(folder)s: is no release: %(file)s is not as `fcpair release` writes it: %(why)s")
        raise InputError.say(message, folder=str(folder), file=RECORD, why=misfit)
    return record


def diff_releases(before: str | Path, after: str | Path) -> ReleaseChanges:
    """List the pairs that came, went, or changed tier or label, and why; InputError for no sound release."""
    with folders.unpacked(before) as first, folders.unpacked(after) as then:
        records = []
        for place, folder in ((first, before), (then, after)):
            if faults := _verify(place, folder, None).faults:
                message = mark("%(folder)s: %(fault)s; `fcpair verify` lists all that differs from what was released")
                raise InputError.say(message, folder=str(folder), fault=faults[0])
            records.append(read_record(place, folder))
        return compare_releases(first, then, records)
