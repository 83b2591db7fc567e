"""The blocks of a grid that was extended: their figures, and a sentence for every report that rests on several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fcpair.lazy import np
from fcpair.params import Agree, Further
from fcpair.sentences import Sentence, join, mark, say, say_number
from fcpair.stages.questions.base import NO_CODE
from fcpair.steps.base import context
from fcpair.steps.base.context import GridContext
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.corpus import cells, grids
from fcpair.store.oversight import runs, settings

if TYPE_CHECKING:
    from fcpair.stages.stats.block_figures import BlockFigures


def measure_blocks(grid: GridContext) -> BlockFigures:
    """Measure the blocks of the grid: what it was made with, and what each extension added.

    Raises StageError where it has no labels yet, or other answers than labels.
    """
    with grid._store.read() as tx:
        context.need_labels(tx, "blocks")
        return _measure(tx)


def _measure(tx: Tx) -> BlockFigures:
    # with arrays and all that measures, which a look at a study that was never extended needs not
    from fcpair.stages.stats import block_figures
    from fcpair.stages.stats.agreement import compute_alpha
    from fcpair.steps.rules.tier_evidence import GRADED, evidence_of

    question, options, blocks = context.scheme_of(tx), context.effective_options(tx, Agree, {}), cells.load_blocks(tx)
    labels = judgements.label_arrays(tx, *GRADED, "person_id", further=options.further)
    if options.indefinite == "drop":
        is_definite = np.isin(labels["code"], question.definite)
        labels = {name: column[is_definite] for name, column in labels.items()}
    evidence = evidence_of(tx, labels, question)
    cell_id, first = np.unique(labels["cell_id"], return_index=True)
    place = cells.places_of(tx, {name: labels[name][first] for name in ("hs_id", "cn_id")})
    block_of_pair = blocks.find(place)[1]
    agreement, n_labels = block_figures.agreeing_shares(evidence.tally.counts), evidence.tally.n_labels
    is_decided = evidence.final != NO_CODE
    positive = np.where(is_decided, np.isin(evidence.final, question.positive), np.nan)
    block_of_label = block_of_pair[np.searchsorted(cell_id, labels["cell_id"])]
    n_cells = np.bincount(blocks.find(cells.places_of(tx, cells.cell_arrays(tx)))[1], minlength=len(blocks.shapes) + 1)
    extensions = (runs.find_run(tx, run_id) for run_id in settings.of_stage(tx, cells.BLOCKS).get("runs", ()))
    added = ["", *(run.at[:10] if run else "" for run in extensions)]
    rows, before = [], (0, 0)
    for number, shape in enumerate(blocks.shapes, 1):
        own, own_labels = block_of_pair == number, block_of_label == number
        alpha = compute_alpha(
            {"annotator" if name == "person_id" else name: column[own_labels] for name, column in labels.items()},
            question,
            options,
        )
        is_overlapped, is_final = own & (n_labels > 1), own & is_decided
        rows.append(
            block_figures.Block(
                block=number,
                added=added[number - 1],
                hs=shape[0] - before[0],
                cn=shape[1] - before[1],
                pairs=int(n_cells[number]),
                labelled=int(own.sum()),
                overlapped=int(is_overlapped.sum()),
                agreement=float(agreement[is_overlapped].mean()) if is_overlapped.any() else None,
                alpha=alpha.value,
                low=alpha.low,
                high=alpha.high,
                decided=int(is_final.sum()),
                positive=float(positive[is_final].mean()) if is_final.any() else None,
            )
        )
        before = shape
    values = {block_figures.AGREEMENT: agreement, block_figures.POSITIVE: positive}
    names = ("HS", "CN") if not context.is_planned(tx) else grids.side_names(tx)
    return block_figures.BlockFigures(tuple(rows), block_figures.compare_blocks(blocks, place, values, names))


def block_notes(tx: Tx) -> list[Sentence]:
    """What readers of figures must know of the labels that standing rules asked for, and of the blocks of a grid that
    was extended; nothing of any other.
    """
    notes, blocks = list[Sentence](), cells.load_blocks(tx)
    if settings.of_stage(tx, Further.stage) and (n := judgements.n_further(tx)):
        counted = context.effective_options(tx, Agree, {}).further
        rest = say("and so does agreement") if counted else say("but agreement does not")
        notes.append(
            say_number(
                "%(n)s label was asked for because labels tied or somebody was not sure: tiers count it, %(rest)s",
                "%(n)s labels were asked for because labels tied or somebody was not sure: tiers count them, %(rest)s",
                n,
                rest=rest,
            )
        )
    if len(blocks.shapes) < 2:
        return notes
    shapes = [say("%(rows)s x %(columns)s", rows=rows, columns=columns) for rows, columns in blocks.shapes]
    grown = join(shapes, mark(" to "))
    basis = say("the grid has %(n)s blocks: it grew from %(shapes)s", n=len(shapes), shapes=grown)
    if not judgements.is_answered(tx) or context.labels_of(tx) is None:
        return [*notes, basis]
    return [*notes, join([basis, _measure(tx).verdict], "; ")]


def basis_notes(tx: Tx) -> list[str]:
    """The same after what readers must know of decisions and verdicts whose labels have changed since."""
    from fcpair.steps.assignment.validate import look_again_notes  # with arrays

    return [*look_again_notes(tx), *block_notes(tx)]
