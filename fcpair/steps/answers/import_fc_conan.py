"""Taking over a published FC-CONAN partition: its labels, final labels and verdicts, and its texts and grid."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fcpair.errors import InputError, StageError
from fcpair.files.answers.answer_files import ImportedAnswers
from fcpair.files.corpus import fc_conan
from fcpair.files.corpus.corpus import CN, HS
from fcpair.lazy import pd
from fcpair.params import Agree, Import
from fcpair.records import Origin, Role, Round, Rule, RunRecord, Status
from fcpair.stages.corpus.text_identity import digest
from fcpair.stages.questions import NO_CODE
from fcpair.stages.questions.labels import APPROPRIATENESS
from fcpair.steps.answers.answer_import import locate_cells, save_answers
from fcpair.steps.assignment.validate import with_decisions
from fcpair.steps.base.context import GridContext, begin_run, effective_options, file_setting, scheme_of
from fcpair.steps.building import add_side
from fcpair.steps.rules.rule_decisions import apply_policy
from fcpair.store import Tx, adjudications, people
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells, sides
from fcpair.store.oversight import build_progress, runs, settings

FORMAT = "fc-conan"
PUBLISHED = "published"  # the settings that say from where


def import_published(grid: GridContext, path: str | Path) -> RunRecord:
    """Record a published FC-CONAN partition: labels, final labels, verdicts; an empty study gets its grid too.

    Raises StageError where the study has people or judgements of its own, or another label scheme; InputError for a
    broken file, a pair that is not in the grid, or intervals of the study's own that generalise to new annotators.
    """
    published = fc_conan.read_published(path)
    with grid._store.write() as tx:
        if people.people(tx) or judgements.n_judgements(tx):
            raise StageError(
                "the study already has people; `fcpair init --study OTHER` makes a new study for published labels"
            )
        if scheme_of(tx) != APPROPRIATENESS:
            raise StageError(
                "the published labels are not_appropriate, not_sure, appropriate; the study has different labels"
            )
        is_new_grid = not any(build_progress.n_built(tx).values())
        if is_new_grid:
            # a pair keeps the number that it was published with
            keyed = published.pairs.assign(
                hs_digest=published.pairs[HS].map(digest), cn_digest=published.pairs[CN].map(digest), language="en"
            )
            hs_ids = add_side(tx, HS, keyed, fc_conan.HS_METADATA)
            cn_ids = add_side(tx, CN, keyed, fc_conan.CN_METADATA)
            sides.set_texts(tx, "row", hs_ids.values())
            sides.set_texts(tx, "column", cn_ids.values())
            numbered = keyed[["pair"]].rename(columns={"pair": "id"})
            cells.add(tx, numbered.assign(hs_id=keyed["hs_digest"].map(hs_ids), cn_id=keyed["cn_digest"].map(cn_ids)))
        incoming = ImportedAnswers(str(path), published.pairs.assign(pair=NO_CODE), [], published.place, by_text=True)
        locate_cells(tx, incoming)
        pairs = incoming.checked_rows()
        cell_ids_by_pair = dict(zip(published.pairs["pair"].tolist(), pairs["cell_id"].tolist(), strict=True))
        run_id = begin_run(tx, "label import", {"path": str(path), "format": FORMAT})
        labellers = set(published.labels["person"])
        names = [name for name in (*fc_conan.ANNOTATORS, fc_conan.ANONYMOUS) if name in labellers]
        ids = {person.name: person.id for person in people.add_people(tx, names, Role.ANNOTATOR)}
        labels = published.labels.assign(
            cell_id=published.labels["pair"].map(cell_ids_by_pair), person_id=published.labels["person"].map(ids)
        )
        simulated = published.pairs.set_index("pair")[fc_conan.SIMULATED]
        _record_answers(tx, labels.assign(simulated=labels["pair"].map(simulated)), rounds.primary(tx), run_id)
        adjudications.add_adjudications(tx, pairs[["cell_id"]].assign(rule=Rule.IMPORTED.value, code=pairs["final"]))
        apply_policy(tx, pairs["cell_id"].tolist())
        validator = people.add_people(tx, [fc_conan.VALIDATOR], Role.VALIDATOR)[0]
        verdicts = pairs[["cell_id", fc_conan.SIMULATED]].assign(person_id=validator.id, code=pairs["verdict"])
        _record_answers(tx, with_decisions(tx, verdicts, blind=False), rounds.validation(tx), run_id)
        counts = {"pairs": len(pairs), "labels": len(labels), "adjudications": len(pairs), "verdicts": len(verdicts)}
        file = file_setting(Path(path))
        settings.save_settings(tx, PUBLISHED, {"path": file}, run_id)
        check_interval_scope(tx, effective_options(tx, Agree, {}))
        if is_new_grid:
            settings.save_settings(tx, Import.stage, {"path": file, "reader": FORMAT}, run_id)
        note = (
            "the published Diamond has the pairs on which two labels agree, which is `fcpair partition --diamond "
            "majority`; without it, Diamond is unanimous, as the paper says"
        )
        return replace(runs.end_run(tx, run_id, counts), notes=(note,))


def is_published_partition(tx: Tx) -> bool:
    """Return whether the study's labels and decisions are those of a published partition."""
    return bool(settings.of_stage(tx, PUBLISHED))


def check_annotators_known(tx: Tx, cannot: str) -> None:
    """Raise InputError, which says what `cannot` be done, where nothing says whose a label is."""
    if is_published_partition(tx):
        raise InputError(
            "the labels are those of a published partition, whose annotator columns are places and not people: nothing "
            f"says whose a label is, so {cannot}"
        )


def check_interval_scope(tx: Tx, options: Agree) -> None:
    """Raise InputError for intervals that generalise to new annotators where nobody knows whose a label is."""
    if options.intervals == "annotators":
        check_annotators_known(tx, "no interval generalises to new annotators; omit `intervals` (--intervals)")


def _record_answers(tx: Tx, answers: pd.DataFrame, round_: Round, run_id: int) -> None:
    new_rows = answers[["cell_id", "person_id"]].assign(status=Status.DONE.value)
    assignments.add_assignments(tx, new_rows.assign(position=new_rows.groupby("person_id").cumcount() + 1), round_)
    assignment_ids = assignments.assignments(tx, round_)[["id", "cell_id", "person_id"]].rename(
        columns={"id": "assignment_id"}
    )
    matched_rows = answers.merge(assignment_ids, on=["cell_id", "person_id"]).assign(note="")
    for simulated, rows in matched_rows.groupby(fc_conan.SIMULATED):
        save_answers(tx, rows, Origin.SIMULATED if simulated else Origin.IMPORTED, run_id)
