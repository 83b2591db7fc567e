"""Sections of the report: the evaluation, a survey, bias scores, groups of annotators, as pictures and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fcpair.bias import SCHEMES, ScoredAnswers
from fcpair.evaluate.outcome import Concordance, Outcome
from fcpair.report import formatting
from fcpair.report.data import GroupFigures, SurveyFigures, SurveysPart
from fcpair.report.figures import Forest, grid_map
from fcpair.report.figures.evaluation_figures import png
from fcpair.report.figures.layout import make_printable
from fcpair.report.figures.plots import of_bias, of_groups, of_survey
from fcpair.report.table_rows import Row, TableSheet
from fcpair.sentences import Answer, Sentence, Written, join, mark, say, say_number
from fcpair.stages.stats.group_differences import METHODS, GroupComparison
from fcpair.stages.stats.intervals import LEVEL
from fcpair.stages.surveys.survey import ANSWERS, SKIPPED


def score_picture(outcome: Outcome, measure: str) -> grid_map.Image:
    """The scores of all systems on all tiers by a measure, as a picture."""
    return grid_map.Image(lambda theme: png(outcome, measure, theme.inks))


def tau_rows(outcome: Outcome) -> list[tuple[str, list[Concordance]]]:
    """A row for every two tiers, with a cell for each measure; none for a single system, which has no ranking."""
    if len(outcome.systems) < 2:
        return []
    pairs = dict.fromkeys((item.one, item.other) for item in outcome.concordances)
    return [
        (f"{item.capitalize()}, {other.capitalize()}", [c for c in outcome.concordances if (c.one, c.other) == pair])
        for pair in pairs
        for item, other in [pair]
    ]


def strip_folders(outcome: Outcome) -> Outcome:
    """The outcome with systems and pool named without folders, which are the study lead's own affair."""
    shorts = _number_repeats([make_printable(formatting.file_name(system.short)) for system in outcome.systems])
    names = _number_repeats([make_printable(formatting.file_name(system.name)) for system in outcome.systems])
    short_by_system = {system.short: short for system, short in zip(outcome.systems, shorts, strict=True)}
    return replace(
        outcome,
        pool=formatting.file_name(outcome.pool),
        systems=tuple(
            replace(system, name=name, short=short_by_system[system.short])
            for system, name in zip(outcome.systems, names, strict=True)
        ),
        scores=tuple(replace(score, system=short_by_system[score.system]) for score in outcome.scores),
        spreads=tuple(replace(spread, system=short_by_system[spread.system]) for spread in outcome.spreads),
        comparisons=tuple(
            replace(test, one=short_by_system[test.one], other=short_by_system[test.other])
            for test in outcome.comparisons
        ),
    )


def _number_repeats(names: Sequence[str]) -> list[str]:
    """The names, with a number where one is duplicated, as those of files from two folders may."""
    repeated = {name for name in names if names.count(name) > 1}
    return [f"{name} ({names[: at + 1].count(name)})" if name in repeated else name for at, name in enumerate(names)]


GROUPS = mark("Groups of people")
LEVEL_SHOWN = Written(f"{100 * LEVEL:.0f} %")
INTERVAL = say("%(percent)s interval", percent=LEVEL_SHOWN)
MOST_DRAWN = 60  # rows of a picture that a page shows


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


def _sheet(
    title: str, text: str, header: Sequence[str], rows: list[Row], notes: Iterable[str], forest: Forest | None
) -> TableSheet:
    """A sheet with its picture, or a note where that has too many rows for a page."""
    if forest is not None and forest.n_rows > MOST_DRAWN:
        notes = (
            *notes,
            say("no picture of %(number)s rows here; the command's --figures draws it", number=forest.n_rows),
        )
        forest = None
    return TableSheet(title, text, header, rows, tuple(notes), forest)


def _survey_section(figures: SurveyFigures) -> Section:
    text = say_number(
        "%(n)s person answered; a margin of error of %(figure)s after Cochran, which assumes a random sample. A share "
        "is yes over yes and no, its interval Wilson's at %(percent)s.",
        "%(n)s people answered; a margin of error of %(figure)s after Cochran, which assumes a random sample. A share "
        "is yes over yes and no, its interval Wilson's at %(percent)s.",
        figures.people,
        figure=Written(f"{figures.margin:.3f}"),
        percent=LEVEL_SHOWN,
    )
    forest_by_title = {one.title: one for one in of_survey(figures.shares)}
    sheets = []
    for question, rows in figures.shares.groupby("question", sort=False):
        table: list[Row] = []
        for row in rows.to_dict("records"):
            shares = [say("undefined, because %(reason)s", reason=say("nobody said yes or no")), formatting.NOTHING]
            if row["n"]:
                shares = [formatting.decimal(row["share"]), formatting.bounds(row["low"], row["high"])]
            counts = (formatting.count(int(row[name])) for name in (*ANSWERS, SKIPPED))
            table.append([str(row["statement"]), *counts, *shares])
        answers = (mark("Yes"), mark("No"), mark("Declined"), mark("Skipped"))
        header = (mark("Statement"), *answers, mark("Share"), INTERVAL)
        sheets.append(_sheet(str(question), "", header, table, (), forest_by_title[str(question)]))
    return Section(mark("What people said"), text, tuple(sheets))


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
        formula = say("%(text)s (%(source)s)", text=join([score.formula]), source=score.source)
        header = (mark("Model, category"), mark("Score"), INTERVAL, mark("Answers"), mark("Templates"))
        rows: list[Row] = []
        for name, item in figures:
            value = f"undefined, because {item.undefined}" if item.value is None else formatting.decimal(item.value, 4)
            rests_on = (formatting.count(item.n), formatting.count(item.n_templates))
            rows.append([f"{name}, {item.category}", value, formatting.bounds(item.low, item.high), *rests_on])
        notes = dict.fromkeys(_note(item.category, item.note) for _, item in figures if item.note)
        sheets.append(_sheet(score.name, formula, header, rows, notes, forest_by_title.get(score.name)))
    unreadable = [
        say("%(name)s %(number)s of %(all)s", name=name, number=item.n_unreadable, all=item.n)
        for name, item in scored_by_name.items()
    ]
    tied = [
        say("%(name)s %(number)s", name=name, number=item.n_tied)
        for name, item in scored_by_name.items()
        if item.n_tied
    ]
    sentences = [
        say("Intervals at %(percent)s by a jackknife over templates.", percent=LEVEL_SHOWN),
        say("Answers that cannot be read are left out of every figure: %(text)s.", text=unreadable),
    ]
    if tied:
        sentences.append(say("Where the likeliest options tie, only probabilities count: %(text)s.", text=tied))
    return Section(say("Bias, as %(name)s scores it", name=scheme.upper()), join(sentences), tuple(sheets))


def _note(subject: str, note: str) -> Sentence:
    return say("%(name)s: %(note)s", name=subject, note=join([note]))


def _groups_section(figures: GroupFigures) -> Section:
    if figures.undefined:
        return Section(GROUPS, say("Undefined, because %(reason)s.", reason=join([figures.undefined])), ())
    sheets = [
        sheet
        for comparison in figures.compared
        for sheet in _group_sheets(comparison, figures.exploratory.get(comparison.by, ""))
    ]
    text = say(
        "Answers to “%(question)s”, by what people said about themselves. The result is an association among these "
        "annotators, never a cause.",
        question=Answer(figures.question),
    )
    return Section(GROUPS, text, tuple(sheets))


def _group_sheets(comparison: GroupComparison, exploratory: str) -> Iterator[TableSheet]:
    few = dict.fromkeys(
        say("%(group)s: undefined, because there are %(reason)s", group=figure.group, reason=figure.undefined)
        for figure in comparison.shares
        if figure.undefined
    )
    exploratory_note = [f"exploratory: {exploratory}"] if exploratory else []
    rows = [
        [
            f"{figure.label}, {figure.group}",
            *map(formatting.count, (figure.people, figure.n)),
            formatting.decimal(figure.value, 4),
        ]
        for figure in comparison.shares
        if not figure.undefined
    ]
    sentences = [say("%(number)s answers.", number=comparison.n)]
    if comparison.n_without:
        sentences.append(say("%(number)s more are by people for whom it is unknown.", number=comparison.n_without))
    header = (mark("Answer, group"), mark("People"), mark("Answers"), mark("Share"))
    yield _sheet(comparison.by, join(sentences), header, rows, (*exploratory_note, *few), None)
    defined = [figure for figure in comparison.differences if not figure.undefined]
    if defined:
        (forest,) = of_groups([comparison])
        differences, notes = [], dict[str, None]()
        for figure in defined:
            groups, ends = " - ".join(figure.groups), formatting.bounds(figure.low, figure.high)
            value, p, holm = (formatting.decimal(number, 4) for number in (figure.value, figure.p, figure.holm))
            differences.append([f"{figure.label}: {groups}", value, ends, p, holm])
            notes[_note(groups, figure.least_p_note)] = None
        methods = (_note(join([name]), method) for name, method in METHODS.items())
        names = (mark("Answer, groups"), mark("Difference"), INTERVAL, mark("p"), mark("Holm"))
        title = say("%(group)s: differences of shares", group=comparison.by)
        yield _sheet(title, "", names, differences, (*notes, *methods), forest)
