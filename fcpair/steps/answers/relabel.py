"""Changing labels that have been given: renaming, merging, splitting and adding them, on record."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fcpair.done import tell_relabelling
from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.lazy import np
from fcpair.param_values import as_params
from fcpair.params import Partition, Relabel, Relabelling, Simulate
from fcpair.records import Known, Rule, RunRecord
from fcpair.sentences import Id, mark, say
from fcpair.stages.answers.relabel import ChangedLabels, change_labels
from fcpair.stages.questions import Form, OneOf
from fcpair.steps.answers.withdraw import take_back
from fcpair.steps.base import calibration_state, context, departures
from fcpair.steps.base.answer_values import closed_question, form_of, to_stored
from fcpair.steps.base.context import GridContext
from fcpair.steps.base.keywords import takes_params
from fcpair.steps.people import reassignment
from fcpair.steps.people.known_pairs import KNOWN_PAIRS
from fcpair.steps.rules import rule_decisions, wording
from fcpair.steps.rules.tallies import as_ranges
from fcpair.store import Tx, adjudications, people
from fcpair.store.answers import judgements, relabelling
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import runs, settings
from fcpair.words import Words


@dataclass(frozen=True)
class LabelVersion:
    """A version of the labels of a grid: the question that it asked from the run `run` on, with what was changed and
    why; of the first one, neither.
    """

    version: int
    question: str
    change: str = ""
    reason: str = ""
    run: int | None = None
    at: str | None = None


def label_versions(grid: GridContext) -> list[LabelVersion]:
    """The versions that the labels of the grid have had, the first one first; the last is that of now."""
    with grid._store.read() as tx:
        past, primary = relabelling.history(tx), rounds.primary(tx)
    printed = [*(change.before["forms"][str(primary.id)] for change in past), primary.form]
    forms = (form_of(form).current for form in printed)
    questions = [str(form if len(form.questions) > 1 else form.questions[0][1]) for form in forms]
    versions = [LabelVersion(1, questions[0])]
    for at, (question, of) in enumerate(zip(questions[1:], past, strict=True), 2):
        told = tell_relabelling(of.change)
        versions.append(LabelVersion(at, question, told, of.change["reason"], of.run_id, of.at))
    return versions


def past_grid(grid: GridContext, version: int) -> tuple[GridContext, Partition]:
    """The grid as it was before its labels had the version after this one, and the rules of its tiers of then; raises
    UnknownIdError for no such version.
    """
    with grid._store.read() as tx:
        past, rules = relabelling.history(tx), context.effective_options(tx, Partition, {})
    newest = len(past) + 1
    if not 1 <= version <= newest:
        message = mark("the labels have had no version %(number)s; the newest is %(newest)s")
        raise UnknownIdError.say(message, number=Id(version), newest=Id(newest))
    if version == newest:
        return grid, rules
    store = grid._store.hiding(partial(relabelling.past_views, past[version - 1]))
    return GridContext(store, grid.grid), Partition(**past[version - 1].before["rules"])


@takes_params
def relabel(
    grid: GridContext,
    change: Relabel | None = None,
    *,
    kind: Relabelling = "rename",
    labels: Sequence[str] = (),
    into: Sequence[str] = (),
    reason: str = "",
    dry_run: bool = False,
) -> RunRecord:
    """Rename a label, merge some, split one or add one, on record.

    Answers stay as they were given; from then on, those with a label that was renamed or merged read as what it became,
    everywhere. Those with a label that was split count no more: their pairs go back to the people who gave them, as far
    as they take part, or to others, and what people decided by it waits for a second look. What names a label (own
    tiers, known pairs, wordings) follows. With `dry_run` nothing is changed.

    Raises InputError for a change that the labels do not allow, or that would leave something behind; StageError where
    the answers of the grid are not labels, or somebody is about to discuss or decide what would change.
    """
    change = change or Relabel()
    store = grid._store.rehearsing(lambda _tx: None) if dry_run else grid._store
    with store.write() as tx:
        question = closed_question(form_of(printed := rounds.primary(tx).form))
        if not isinstance(question, OneOf):
            why = mark("grid `%(grid)s` asks `%(form)s`; labels can be changed where one_of(...) alone is asked")
            raise StageError.say(why, grid=grid.grid.name, form=printed)
        changed, given = change_labels(question, change), judgements.label_arrays(tx, "cell_id", "code")
        concerned = [of.code for of in question if of.name in {*change.labels} - {*change.into}]
        is_concerned = np.isin(given["code"], concerned)
        cell_ids = np.unique(given["cell_id"][is_concerned]).tolist()
        if changed.split is not None:
            calibration = calibration_state.load_calibration(tx)
            if calibration and calibration.phase is not calibration_state.Phase.CLOSED:
                raise StageError.say(
                    "a calibration is under way, in which people give this label; close it first (`fcpair calibrate "
                    "close`)"
                )
            decisions = adjudications.decided_codes(tx, cell_ids)
            requested = decisions["cell_id"][decisions["requested"] == 1].tolist()
            if disturbed := {*requested, *rule_decisions.stale_decisions(tx, cell_ids)}:
                why = mark(
                    "with this label, pairs %(pairs)s wait for a decision that was asked for, or for a second look; "
                    "let these be decided first (`fcpair adjudicate`)"
                )
                raise StageError.say(why, pairs=as_ranges([grids.to_public_number(cell_id) for cell_id in disturbed]))
        kept, rules = list(_follow(tx, change)), as_params(context.effective_options(tx, Partition, {}))
        run_id = context.begin_run(tx, change.stage, as_params(change))
        relabelling.change(tx, as_params(change), _changed_rounds(tx, question, changed), rules, run_id)
        for stage, values in kept:
            settings.save_settings(tx, stage, values, run_id)
        departures.add_recipe_version(tx, run_id)
        notes = tuple(_follow_words(tx, change, run_id))
        counts = {"answers": int(is_concerned.sum()), "pairs": len(cell_ids)} if change.labels else {}
        if changed.split is not None:
            was_split = f"`{change.labels[0]}` was split"
            for of in (rounds.primary(tx), rounds.validation(tx)):  # people are asked again, and who else is needed
                if of.ids:
                    column = "own_code" if of.checks else "code"
                    answers = judgements.current_labels(tx, "id", "assignment_id", "person_id", column, of=of)
                    take_back(tx, of, answers[answers[column] == changed.split], run_id, was_split)
            asked = {name: n for name, n in reassignment.reassign(tx, seed=0).items() if n}
            counts = {"ambiguous": counts.pop("answers"), **counts, **asked}
        counts |= rule_decisions.apply_policy(tx, cell_ids)
        if changed.split is not None:  # where a decision that stands is that label, people decide again
            standing = adjudications.current_adjudications(tx, "cell_id", "code", standing=True)
            to_decide = standing["cell_id"][standing["code"] == changed.split].tolist()
            request = {"rule": Rule.REQUESTED.value, "note": f"{was_split}: {change.reason}"}
            adjudications.add_decisions(tx, ({"cell_id": cell_id, **request} for cell_id in to_decide))
            counts |= {"to_decide": len(to_decide)} if to_decide else {}
        return replace(runs.end_run(tx, run_id, counts), notes=notes)


def _changed_rounds(tx: Tx, question: OneOf, changed: ChangedLabels) -> dict[int, relabelling.ChangedRound]:
    """The rounds that ask for labels, by id, as they are after a change. After a split, a calibration that is over
    stays as it was.
    """
    changed_rounds = {}
    for of in relabelling.labelled_rounds(tx):
        for id_ in of.ids if changed.split is None or not of.options.calibrates else ():
            old = form_of(rounds.form(tx, id_))
            if closed_question(old) != question:
                continue
            (name, _), *_ = old.questions
            form = Form(((name, changed.question),))
            answers = {code: to_stored(form, {name: code}) for code in changed.question.codes}
            before = {code: to_stored(old, {name: code}).digest for code in question.codes if code != changed.split}
            now = {digest: answers[changed.moved.get(code, code)].digest for code, digest in before.items()}
            moved = {old_digest: new for old_digest, new in now.items() if old_digest != new}
            changed_rounds[id_] = relabelling.ChangedRound(str(form), [*answers.values()], moved)
    return changed_rounds


def _follow(tx: Tx, change: Relabel) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the settings that name labels, by their stage, as they are after a change; InputError for what cannot
    follow: a split label, and own tiers of which a merged one would take in more.
    """
    names, gone = dict.fromkeys(change.labels, change.into[0]), {*change.labels}
    for stage in (Partition.stage, settings.RECIPE + Partition.stage):
        tiers = settings.of_stage(tx, stage).get("own_tiers", {})
        for tier, table in tiers.items():
            listed = gone & {*table.get("answers", ())}
            if listed and (change.kind == "split" or listed != gone):
                advice = mark("the tier `%(tier)s` has pairs labelled %(labels)s; give it other answers first")
                raise InputError.say(advice, tier=tier, labels=sorted(listed))
        if any("answers" in table for table in tiers.values()):
            renamed = {tier: {**table} for tier, table in tiers.items()}
            for table in (table for table in renamed.values() if "answers" in table):
                table["answers"] = list(dict.fromkeys(names.get(name, name) for name in table["answers"]))
            yield stage, {"own_tiers": renamed}
    known = settings.of_stage(tx, KNOWN_PAIRS)
    for use in map(str, Known):
        pairs = known.get(use, [])
        if change.kind == "split" and any(pair[2] in gone for pair in pairs):
            why = mark(
                "%(use)s has known pairs whose right answer is `%(label)s`, which would have none; merge or rename "
                "labels instead, or add one"
            )
            raise InputError.say(why, use=use, label=change.labels[0])
        if pairs:
            yield KNOWN_PAIRS, {use: [[*pair[:2], names.get(pair[2], pair[2]), *pair[3:]] for pair in pairs]}


def _follow_words(tx: Tx, change: Relabel, run_id: int) -> Iterator[str]:
    """Let wordings of a renamed label be those of its new name, and drop those of names that the study has no more;
    yields notes on what cannot follow.
    """
    paths = (
        (of.grid, asked, name) for of in wording.study_names(tx) for asked, names in of.questions for name in names
    )
    known = {"/".join(path[at:]) for path in paths for at in range(3)}
    renamed = dict(zip(change.labels, change.into, strict=True)) if change.kind == "rename" else {}
    with grids.on_first_grid(tx):
        for stage in (Words.stage, settings.RECIPE + Words.stage):
            old = settings.of_stage(tx, stage).get("options", {})
            followed = dict[str, Any]()
            for key, value in old.items():
                path, slash, name = key.rpartition("/")
                new = f"{path}{slash}{renamed.get(name, name)}"
                followed |= {name: value for name in (new, key) if name in known}
            if followed != old:
                settings.save_settings(tx, stage, {"options": followed}, run_id)
        leaning_to = settings.of_stage(tx, Simulate.stage).get("leaning_to")
        if leaning_to in renamed and leaning_to not in known:
            settings.save_settings(tx, Simulate.stage, {"leaning_to": renamed[leaning_to]}, run_id)
    _, guidelines = people.current_guidelines(tx)
    if named := [f"`{name}`" for name in change.labels if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", guidelines)]:
        yield say("the guidelines name %(labels)s; edit them, so that people read what is meant now", labels=named)
