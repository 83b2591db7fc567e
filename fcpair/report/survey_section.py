"""A survey, bias scores and groups of annotators as the report shows them: pictures, and tables with the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fcpair.bias import SCHEMES, BiasFigure, ScoredAnswers
from fcpair.bias.scoring import METHOD
from fcpair.report import formatting
from fcpair.report.data import GroupFigures, SurveyFigures, SurveysPart
from fcpair.report.figures import Forest
from fcpair.report.figures.forest_plots import of_bias, of_groups, of_survey
from fcpair.stages.stats.group_differences import ASSOCIATION, METHODS, GroupComparison
from fcpair.stages.stats.intervals import LEVEL
from fcpair.stages.surveys.survey import ANSWERS, ASSUMPTION, SKIPPED

MOST_DRAWN = 60  # rows of a picture that a page shows


@dataclass(frozen=True)
class TableSheet:
    """A table whose first column names its rows, the figure of it where one is drawn, and what is said below it."""

    title: str
    text: str
    header: tuple[str, ...]
    rows: list[list[str]]
    notes: tuple[str, ...] = ()
    picture: Forest | None = None


@dataclass(frozen=True)
class Section:
    """Sheets under a heading."""

    heading: str
    text: str
    sheets: tuple[TableSheet, ...]


def build_sections(part: SurveysPart) -> list[Section]:
    """Build the sections of a report, or of a page, on what was found by asking."""
    result = [_survey_section(part.survey)] if part.survey else []
    result += [_bias_section(one) for one in part.bias]
    return result + ([_groups_section(part.groups)] if part.groups else [])


def _drawn(forest: Forest | None) -> Forest | None:
    return None if forest is None or forest.n_rows > MOST_DRAWN else forest


def _no_picture_notes(forest: Forest | None) -> tuple[str, ...]:
    if forest is None or forest.n_rows <= MOST_DRAWN:
        return ()
    return (f"no picture of {forest.n_rows:,} rows here; the command's --figures draws it",)


def _survey_section(figures: SurveyFigures) -> Section:
    text = (
        f"{formatting.counted(figures.people, 'person', 'people')} answered; a margin of error of "
        f"{figures.margin:.3f} after Cochran, which {ASSUMPTION}. A share is yes over yes and no, its interval "
        "Wilson's at 95 %."
    )
    forest_by_title = {one.title: one for one in of_survey(figures.shares)}
    sheets = []
    for question, rows in figures.shares.groupby("question", sort=False):
        forest = forest_by_title[str(question)]
        table = [
            [
                str(row["statement"]),
                *(formatting.count(int(row[name])) for name in (*ANSWERS, SKIPPED)),
                *_share_cells(row),
            ]
            for row in rows.to_dict("records")
        ]
        header = ("Statement", "Yes", "No", "Declined", "Skipped", "Share", "95 % interval")
        sheets.append(TableSheet(str(question), "", header, table, _no_picture_notes(forest), _drawn(forest)))
    return Section("What people said", text, tuple(sheets))


def _share_cells(row: Mapping[object, float]) -> list[str]:
    if not row["n"]:
        return ["undefined, because nobody said yes or no", formatting.NOTHING]
    return [formatting.decimal(row["share"]), formatting.bounds(row["low"], row["high"])]


def _bias_section(scored_by_name: Mapping[str, ScoredAnswers]) -> Section:
    scheme = next(iter(scored_by_name.values())).scheme
    forest_by_title = {item.title: item for item in of_bias(scored_by_name)}
    sheets = []
    for score in SCHEMES[scheme]:
        figures = [
            (name, item)
            for name, scored in scored_by_name.items()
            for item in scored.figures
            if item.score == score.name
        ]
        forest = forest_by_title.get(score.name)
        sheets.append(
            TableSheet(
                score.name,
                f"{score.formula} ({score.source})",
                ("Model, category", "Score", "95 % interval", "Answers", "Templates"),
                [_score_row(name, item) for name, item in figures],
                (
                    *dict.fromkeys(f"{item.category}: {item.note}" for _, item in figures if item.note),
                    *_no_picture_notes(forest),
                ),
                _drawn(forest),
            )
        )
    unreadable = ", ".join(f"{name} {item.n_unreadable:,} of {item.n:,}" for name, item in scored_by_name.items())
    text = (
        f"Intervals at {100 * LEVEL:.0f} % by a {METHOD}. Answers that cannot be read are left out of every figure: "
        f"{unreadable}."
    )
    if tied := ", ".join(f"{name} {item.n_tied:,}" for name, item in scored_by_name.items() if item.n_tied):
        text += f" Where the likeliest options tie, only probabilities count: {tied}."
    return Section(f"Bias, as {scheme.upper()} scores it", text, tuple(sheets))


def _score_row(name: str, figure: BiasFigure) -> list[str]:
    value = f"undefined, because {figure.undefined}" if figure.value is None else formatting.decimal(figure.value, 4)
    rests_on = [formatting.count(figure.n), formatting.count(figure.n_templates)]
    return [f"{name}, {figure.category}", value, formatting.bounds(figure.low, figure.high), *rests_on]


def _groups_section(figures: GroupFigures) -> Section:
    if figures.undefined:
        return Section("Groups of people", f"Undefined, because {figures.undefined}.", ())
    sheets = [
        sheet
        for comparison in figures.compared
        for sheet in _group_sheets(comparison, figures.exploratory.get(comparison.by, ""))
    ]
    text = f"Answers to “{figures.question}”, by what people said about themselves. The result is {ASSOCIATION}."
    return Section("Groups of people", text, tuple(sheets))


def _group_sheets(comparison: GroupComparison, exploratory: str) -> Iterator[TableSheet]:
    few = dict.fromkeys(
        f"{figure.group}: undefined, because there are {figure.undefined}"
        for figure in comparison.shares
        if figure.undefined
    )
    exploratory_note = [f"exploratory: {exploratory}"] if exploratory else []
    rows = [
        [
            f"{figure.label}, {figure.group}",
            formatting.count(figure.people),
            formatting.count(figure.n),
            formatting.decimal(figure.value, 4),
        ]
        for figure in comparison.shares
        if not figure.undefined
    ]
    without = f"{comparison.n_without:,} more are by people for whom it is unknown." if comparison.n_without else ""
    yield TableSheet(
        comparison.by,
        " ".join(filter(None, [f"{comparison.n:,} answers.", without])),
        ("Answer, group", "People", "Answers", "Share"),
        rows,
        (*exploratory_note, *few),
    )
    differences = [
        [
            f"{figure.label}: {figure.groups[0]} - {figure.groups[1]}",
            *_difference_cells(figure.value, figure.low, figure.high, figure.p, figure.holm),
        ]
        for figure in comparison.differences
        if not figure.undefined
    ]
    if differences:
        (forest,) = of_groups([comparison])
        p_notes = (
            f"{figure.groups[0]} - {figure.groups[1]}: {figure.least_p_note}"
            for figure in comparison.differences
            if not figure.undefined
        )
        notes = (
            *dict.fromkeys(p_notes),
            *(f"{name}: {method}" for name, method in METHODS.items()),
            *_no_picture_notes(forest),
        )
        header = ("Answer, groups", "Difference", "95 % interval", "p", "Holm")
        yield TableSheet(
            f"{comparison.by}: differences of shares",
            "",
            header,
            differences,
            notes,
            _drawn(forest),
        )


def _difference_cells(*values: float | None) -> Sequence[str]:
    value, low, high, p, holm = values
    return [
        formatting.decimal(value, 4),
        formatting.bounds(low, high),
        formatting.decimal(p, 4),
        formatting.decimal(holm, 4),
    ]
