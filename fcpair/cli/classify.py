"""classify, split, ratings, correlate: columns of labels and of ratings, and measures of texts beside them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.given_options import take_effect
from fcpair.cli.options import PATH, format_option, option, resamples_option, seed_option, shared_option
from fcpair.cli.output import (
    Table,
    figure_row,
    figure_table,
    footnotes,
    print_message,
    print_note,
    progress,
    remarks,
    tabular,
)
from fcpair.cli.terminal import Cell
from fcpair.cli.texts import LabelColumn, Texts, with_labels, with_texts
from fcpair.errors import Finding, InputError, reject
from fcpair.lazy import np, pd
from fcpair.stages.corpus.text_identity import identity
from fcpair.texts.stratify import complete_shares, label_distance, stratify

if TYPE_CHECKING:
    from fcpair.texts.classify import ClassificationFigures

LABEL_COLUMNS = ("label", "true", "predicted", "precision", "recall", "F1")


@click.command()
@take_effect("--threshold", "--text", only_with="--classifier")
@with_texts
@option(
    "--truth", multiple=True, required=True, metavar="COLUMN", help="A column of true labels; if repeated, all count."
)
@option("--predicted", metavar="COLUMN", help="The column of predicted labels.")
@option("--classifier", "model", metavar="NAME", help="Predict with this local transformers model, from --text.")
@shared_option("--text", metavar="COLUMN", detail="The classifier labels them.")
@option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    help="The score from which the model's label is predicted.",
)
@shared_option("--label", "labels", multiple=True, metavar="NAME", detail="By default those of the truth.")
@option("--ignore", multiple=True, metavar="NAME", help="A predicted label to ignore and count.")
@shared_option("--by", metavar="COLUMN", detail="Each group has figures, too.")
@shared_option("--cluster", "group", metavar="COLUMN", detail="Intervals resample whole clusters.")
@resamples_option
@format_option
def classify(
    texts: Texts,
    truth: tuple[str, ...],
    predicted: str | None,
    model: str | None,
    text: str | None,
    threshold: float,
    labels: tuple[str, ...],
    ignore: tuple[str, ...],
    by: str | None,
    group: str | None,
    resamples: int,
    seed: int,
    form: str,
) -> None:
    """Measure how well labels were predicted.

    Without FILE, it reads the answers of a round. A cell may have several labels, separated by `;` or `,`, or a JSON
    list; an empty one has none. Accuracy, precision, recall, F1 and Hamming loss are CrowdCounter's; scikit-learn's
    averages and the figures of each label are shown beside them.

    \b
    Example:
      fcpair classify types.csv --truth type --truth more_types --predicted guessed
      fcpair classify types.csv --truth type --predicted guessed --ignore sarcasm --cluster hs
      fcpair classify types.csv --truth type --classifier ./my-classifier --text reply
    """
    from fcpair.texts.classify import classify as measured
    from fcpair.texts.classify import read_label_table

    tabular.require_columns(
        texts.place, texts.frame.columns, [item for item in (*truth, predicted, text, by, group) if item]
    )
    if (predicted is None) == (model is None) or (model is None) != (text is None):
        raise InputError("give either --predicted COLUMN, or --classifier NAME and --text COLUMN")
    frame, column, notes = texts.frame, str(predicted), list[str]()
    if model is not None and text is not None:
        from fcpair.models.model_files import resolve
        from fcpair.models.transformer import score_labels

        column = f"labels of {model}"
        with progress("labelling", at_once=True) as advance:
            scored = score_labels(frame[text].tolist(), resolve(model), advance)
        predictions = {column: [json.dumps(label) for label in scored.labels_above(threshold)]}
        frame, notes = frame.assign(**predictions), [*scored.cut.notes]
    labelled = read_label_table(frame, texts.place, truth, column, labels, ignore)
    results = measured(
        labelled, frame[by].tolist() if by else None, frame[group].tolist() if group else None, resamples, seed
    )
    tables = [table for item in results for table in _tables(item, by, labelled.n_ignored)]
    data = {"n_ignored": labelled.n_ignored, "notes": notes, "classified": [asdict(item) for item in results]}
    rows = [
        {"of": item.of, "label": label, **figure_row(figure)}
        for item in results
        for label, figures in (("", (*item.figures, *item.averages)), *((s.label, s.figures) for s in item.per_label))
        for figure in figures
    ]
    texts.emit(form, tables, rows, **data)
    print_note(*notes)


def _tables(classified: ClassificationFigures, by: str | None, n_ignored: int) -> list[Table]:
    from fcpair.stages.stats.intervals import plural

    heading = f"{by}: {classified.of or '(nothing)'}\n" if by and classified.of is not None else ""
    ignored = f", {plural(n_ignored, 'predicted label')} ignored" if n_ignored and classified.of is None else ""
    counts = (
        f"Classified: {plural(classified.n, 'row')}, {plural(len(classified.labels), 'label')}{ignored}\n"
        f"{plural(classified.n_no_prediction, 'row')} without a prediction, {classified.n_no_truth:,} without a true "
        f"label, {classified.n_empty:,} without both"
    )
    each = classified.per_label
    rows = [(row.label, row.n_true, row.n_predicted, *(figure.value for figure in row.figures)) for row in each]
    figures = [(row.label, figure) for row in each for figure in row.figures]
    notes = [f"{label}, {figure.name}: {remarks(figure)}" for label, figure in figures if figure.undefined]
    return [
        figure_table(heading + counts, classified.figures),
        figure_table("scikit-learn's averages, with zero_division=nan", classified.averages),
        Table("Each label", LABEL_COLUMNS, rows, notes),
    ]


NAMES = {2: ("train", "test"), 3: ("train", "validation", "test")}
SPLIT = "split"


@click.command()
@with_texts
@shared_option("--cluster", "group", metavar="COLUMN", required=True, detail="Each cluster stays on one side.")
@with_labels(several=False)
@option(
    "--share",
    "shares",
    type=float,
    multiple=True,
    required=True,
    metavar="SHARE",
    help="The share of the lines for the first side, the second, ...; the last side gets the rest.",
)
@seed_option
@shared_option("--out", type=PATH, detail="The table with the column `split`: CSV, JSONL or Parquet by its suffix.")
@format_option
def split(
    texts: Texts, group: str, labels: LabelColumn, shares: tuple[float, ...], seed: int, out: Path | None, form: str
) -> None:
    """Split a table by its labels, with whole groups on one side.

    Each side gets its share of the lines and of every label; all lines of a group (such as an HS) are on one side. The
    same table, shares and seed give the same split.

    \b
    Example:
      fcpair split answers.csv --cluster hs --labels type --share 0.8 --seed 13 --out split.csv
      fcpair split Final_Dataset.json --reader crowdcounter --cluster hs --labels types --share 0.625 --seed 13
      fcpair split answers.csv --cluster hs --labels type --share 0.6 --share 0.2
    """
    texts.check(group)
    parts = complete_shares(shares)
    # Lines without a group would all be taken for the same one.
    empty = [line for line, cell in zip(texts.lines, texts.frame[group], strict=True) if not cell.strip()]
    reject(texts.place, [Finding(texts.place, line, f"no `{group}`, which says what stays together") for line in empty])
    label_sets = labels.read(texts)
    names = labels.aliases.labels or tuple(sorted({label for set_ in label_sets for label in set_}))
    label_matrix = np.array([[name in set_ for name in names] for set_ in label_sets], np.bool_)
    groups = pd.factorize(texts.frame[group].map(identity), sort=True)[0]
    result = stratify(groups.astype(np.int64), label_matrix.reshape(len(label_sets), len(names)), parts, seed)
    sides = NAMES.get(len(parts), tuple(f"part {number}" for number in range(1, len(parts) + 1)))
    if out is not None:
        if SPLIT in texts.frame:
            raise InputError(f"{texts.place}: there is already a column `{SPLIT}`; rename it")
        split_frame = texts.frame.drop(columns=tabular.LINE, errors="ignore")
        tabular.write_table(split_frame.assign(**{SPLIT: [sides[at] for at in result.side]}), out)
        print_message(f"{out}: {len(split_frame):,} lines, their sides in the column `{SPLIT}`.")
    distance = label_distance(result.counts, result.sizes)
    why = "" if distance is not None else "there is no label, or all lines of a side have one"
    numbers = {"lines": result.sizes, "lines wanted": result.wanted, "groups": result.n_groups}
    counts: dict[str, list[int]] = {what: of.tolist() for what, of in numbers.items()}
    of_labels: dict[str, list[int]] = dict(zip(names, result.counts.T.tolist(), strict=True))
    all_counts = (*counts.items(), *of_labels.items())
    of_sides = [
        {SPLIT: side, **{what: of[at] for what, of in counts.items()}}
        | {"labels": {label: of[at] for label, of in of_labels.items()}}
        for at, side in enumerate(sides)
    ]
    rows: list[dict[str, Any]] = [
        {SPLIT: side, "of": what, "n": of[at]} for at, side in enumerate(sides) for what, of in all_counts
    ]
    options = {"shares": [float(share) for share in parts], "seed": seed}
    note = f"undefined, because {why}" if distance is None else f"{distance:.6f} (Sechidis et al. 2011; 0 is exact)"
    title = f"{texts.title}: lines of each side, in all and with each label"
    table = Table(title, ("of", *sides), [[what, *of] for what, of in all_counts], [f"label distance: {note}"])
    texts.emit(form, [table], rows, **options, sides=of_sides, label_distance=distance, why=why)


RATING_COLUMNS = ("source", "rater", "texts", "mean", "low", "high")


@click.command()
@with_texts
@shared_option(
    "--rating",
    "columns",
    multiple=True,
    required=True,
    metavar="COLUMN",
    detail="If repeated, each column is a criterion.",
)
@option("--criterion", metavar="COLUMN", help="The column of the criteria, if one column has all ratings.")
@shared_option("--source", metavar="COLUMN", detail="Without it, all are from one source.")
@shared_option("--rater", metavar="COLUMN", default="by")
@shared_option("--text", metavar="COLUMN", detail="Without it, each row is a text of its own.")
@resamples_option
@format_option
def ratings(
    texts: Texts,
    columns: tuple[str, ...],
    criterion: str | None,
    source: str | None,
    rater: str,
    text: str | None,
    resamples: int,
    seed: int,
    form: str,
) -> None:
    """Average ratings by source, criterion and rater.

    Without FILE, it reads the answers of a round. The mean of a source is the mean of its raters' means; intervals are
    for new texts, rated by the same people.

    \b
    Example:
      fcpair ratings rated.csv --rating fluency --rating tone --source model --rater rater --text id
      fcpair ratings --grid rate --rating rating --criterion column --text row_number
    """
    from fcpair.texts.ratings import average_ratings, read_ratings

    rating_rows = read_ratings(
        texts.frame, texts.place, columns, source=source, rater=rater, text=text, criterion=criterion
    )
    averages = average_ratings(rating_rows, resamples, seed)
    n = f"{len(rating_rows):,} ratings by {rating_rows['rater'].nunique():,} raters"
    rows = [
        {"source": average.source, "criterion": average.criterion, **figure_row(figure)}
        for average in averages
        for figure in (*average.raters, average.mean)
    ]
    tables: list[Table] = []  # with a row for each source and rater of a criterion, criterion by criterion
    for name in dict.fromkeys(item.criterion for item in averages):
        of_criterion = [item for item in averages if item.criterion == name]
        figures = [(item.source, figure) for item in of_criterion for figure in (*item.raters, item.mean)]
        first = 0 if any(of for of, _ in figures) else 1  # without sources there is no column of them
        cells = [(of, item.name, item.n, item.value, item.low, item.high)[first:] for of, item in figures]
        notes = footnotes({f"{of} {item.name}".strip(): remarks(item) for of, item in figures})
        tables.append(Table(f"{name}: {n}" if not tables else name, RATING_COLUMNS[first:], cells, notes))
    texts.emit(form, tables, rows, ratings=[asdict(average) for average in averages])


@click.command()
@with_texts
@option(
    "--score",
    "measure",
    required=True,
    metavar="COLUMN",
    help="The column with a number for each text, to correlate with the ratings.",
)
@shared_option("--rating", required=True, metavar="COLUMN", detail="Empty where a rater gave none.")
@shared_option("--text", metavar="COLUMN", detail="Without it, each row is a text of its own.")
@shared_option("--rater", metavar="COLUMN", detail="Without it, one person rated all.")
@shared_option("--by", metavar="COLUMN", detail="Each group, such as a type, has correlations, too.")
@option(
    "--population", type=PATH, metavar="FILE", help="A table with the measure of all texts that could have been rated."
)
@resamples_option
@format_option
def correlate(
    texts: Texts,
    measure: str,
    rating: str,
    text: str | None,
    rater: str | None,
    by: str | None,
    population: Path | None,
    resamples: int,
    seed: int,
    form: str,
) -> None:
    """Correlate a measure of texts with ratings.

    FILE has a row for each text and rater. A text's rating is the mean of its raters'; intervals are for new texts and
    the mean of as many new raters. A warning is printed if the texts seem to be picked by the extremes of the
    measure, which inflates correlations.

    \b
    Example:
      fcpair correlate rated.csv --score bleurt --rating rating --text id --rater rater
      fcpair correlate rated.csv --score bleurt --rating rating --by type --population all.csv
    """
    from fcpair.texts.ratings import correlate as correlations
    from fcpair.texts.ratings import read_population, read_rated_texts

    rated = read_rated_texts(texts.frame, texts.place, measure, rating, text=text, rater=rater, by=by)
    population_values = read_population(population, measure, text, by, rated.kind) if population else None
    results = correlations(rated, population_values, resamples, seed)
    tables: list[Table] = []
    rows: list[dict[str, Cell]] = []
    for result in results:
        heading = "" if result.of is None else f"{by}: {result.of or '(nothing)'}\n"
        raters = f"{result.n_raters:,} rater{'s' * (result.n_raters != 1)}"
        counts = f"{measure} and mean {rating}: {result.n:,} texts, {result.n_ratings:,} ratings by {raters}"
        tables.append(figure_table(heading + counts, result.figures))
        warning = {"warning": result.picked.warning}
        rows += [{"of": result.of, **figure_row(figure), **warning} for figure in result.figures]
    texts.emit(form, tables, rows, correlated=[asdict(result) for result in results])
    for result in results:
        if result.picked.warning:
            print_message(f"Warning: {'' if result.of is None else f'{by} {result.of}: '}{result.picked.warning}.")
