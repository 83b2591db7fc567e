"""The report as one HTML page: nothing is loaded or run, every text is escaped, and what is missing has its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import isfunction
from shlex import quote
from typing import Any

from fcpair.bias.answers import SCHEMES
from fcpair.bias.scoring import BiasFigure, ScoredAnswers
from fcpair.evaluate.outcome import ALPHA, Concordance, Outcome, group_by_system
from fcpair.report import formatting
from fcpair.report.data import (
    IN_GRID,
    GridMap,
    GridPart,
    GroupFigures,
    MainPart,
    PersonFigures,
    ReportData,
    SurveyFigures,
    SurveysPart,
    TierFigures,
)
from fcpair.report.figures import grid_map
from fcpair.report.figures.evaluation_figures import png, significance_cautions
from fcpair.report.figures.forest import INTERVAL, Forest, forest_markup, page_templates
from fcpair.report.figures.layout import make_printable
from fcpair.report.figures.plots import of_bias, of_groups, of_ranking, of_survey
from fcpair.report.formatting import count, counted
from fcpair.report.table_rows import Row, TableSheet, kappa_map, log_lines, tier_tables
from fcpair.sentences import Answer, Written, join, mark, say, say_number
from fcpair.stages.stats.agreement import Agreement
from fcpair.stages.stats.group_differences import LEAST_PEOPLE, METHODS, GroupComparison
from fcpair.stages.stats.intervals import LEVEL
from fcpair.stages.stats.ranking import Ranking
from fcpair.stages.survey import ANSWERS, SKIPPED

LONG_TABLE = 100
MOST_PAIRS = 1_000  # of annotators, whose agreement is shown pair by pair


def render(data: ReportData) -> str:
    """The whole page. The same data give the same page, to the byte."""
    environment = page_templates()
    environment.filters |= {name: of for name, of in vars(formatting).items() if isfunction(of)} | {"quote": quote}
    functions = (group_by_system, kappa_map, score_picture, significance_cautions, tau_rows, tier_tables)
    environment.globals |= {of.__name__: of for of in functions} | {"swatch": grid_map.swatch, "draw": forest_markup}
    environment.globals |= {"long_table": LONG_TABLE, "most_pairs": MOST_PAIRS, "no_two": NO_TWO}
    environment.globals["sections"] = build_sections
    context: dict[str, Any] = {"data": data, "main": data.main, "alpha": ALPHA}
    context |= {"log": log_lines(data.log), "gaps": find_gaps(data)}
    context["grid"] = _grid_maps(data.main.grid) if data.main and data.main.grid else None
    context["evaluation"] = strip_folders(data.evaluation.outcome) if data.evaluation else None
    return environment.get_template("page.html.j2").render(context)


def _grid_maps(grid: GridMap) -> dict[str, Any]:
    coverage, decisions = grid_map.coverage(grid), grid_map.decisions(grid)
    rows, columns = grid_map.block_size(grid.shape)
    if rows == columns == 1:
        maps = grid_map.class_map(coverage), grid_map.class_map(decisions)
    else:
        maps = (
            grid_map.block_map(grid_map.coverage_blocks(grid), "mean labels per cell"),
            grid_map.block_map(grid_map.decision_blocks(grid), "share of positive labels"),
        )
    classes = [[class_ for class_ in kind.classes if class_.n] for kind in (coverage, decisions)]
    sizes = {"rows": rows, "columns": columns, "n_hs": grid.shape[0], "n_cn": grid.shape[1]}
    sizes |= {"n_pairs": int((grid.place == IN_GRID).sum()), "n_labels": int(grid.labels.sum())}
    return {"coverage": (maps[0], classes[0]), "decisions": (maps[1], classes[1]), **sizes}


NO_TWO = "no cell has two answers or more"


@dataclass(frozen=True)
class Gap:
    """Something that the report lacks, what it would rest on, and why it is not there."""

    what: str
    n: str
    why: str


def find_gaps(data: ReportData) -> list[Gap]:
    """Everything undefined in the report, in its order."""
    evaluation_gaps = list(_evaluation_gaps(strip_folders(data.evaluation.outcome))) if data.evaluation else []
    all_gaps = [*_main_gaps(data.main, evaluation_gaps)] if data.main else []
    for grid in data.grids:
        all_gaps += [replace(gap, what=f"{grid.name}: {gap.what}") for gap in _grid_gaps(grid)]
    return all_gaps if data.main else [*all_gaps, *evaluation_gaps]


def _main_gaps(part: MainPart, evaluation_gaps: list[Gap]) -> Iterator[Gap]:
    for stage in part.stages:
        if not stage.done:
            yield Gap(f"stage “{stage.name}”", "", f"not done yet: run `{stage.command}`")
    if not part.grid:
        yield Gap("the maps of the grid", "0 pairs", "the study has no grid yet")
    no_labels = ("0 labels", "it rests on labels, and there are none yet")
    yield from _agreement_gaps(part.agreement) if part.agreement else [Gap("agreement", *no_labels)]
    yield from _tier_gaps(part.tiers, "pair") if part.tiers else [Gap("the tiers", *no_labels)]
    yield from evaluation_gaps
    yield from _surveys_gaps(part.asked)
    for people, answer in ((part.annotators, "label"), (part.validators, "verdict")):
        for person in people:
            yield from _person_gaps(person, answer)


def _grid_gaps(part: GridPart) -> Iterator[Gap]:
    for round_ in part.rounds:
        if not round_.dealt:
            yield Gap(f"round “{round_.name}”", "", "it has not been assigned yet")
        for block in round_.agreement:
            name = ", ".join(dict.fromkeys(filter(None, [round_.name, block.part, block.of])))
            agreement = block.agreement
            if agreement is None or not agreement.n_overlapped:
                yield Gap(f"agreement, {name}", "0 cells", block.undefined or NO_TWO)
            else:
                yield from (replace(gap, what=f"{gap.what}, {name}") for gap in _agreement_gaps(agreement, "cell"))
        for person in round_.people:
            yield from _person_gaps(person, "verdict" if round_.checks else "answer")
    if part.decided and part.decided.tiers:
        yield from _tier_gaps(part.decided.tiers, "cell")
    yield from _surveys_gaps(part.asked)


def _surveys_gaps(part: SurveysPart) -> Iterator[Gap]:
    if part.survey:
        for row in part.survey.shares[part.survey.shares["n"] == 0].to_dict("records"):
            yield Gap(f"share of yes, {row['question']}, {row['statement']}", "0 answers", "nobody said yes or no")
    # A score that is undefined for a model in several categories for one reason is reported once.
    undefined: dict[tuple[int, str, str, str], list[BiasFigure]] = {}
    for at, scored_by_name in enumerate(part.bias):
        for name, scored in scored_by_name.items():
            for figure in scored.figures:
                if figure.undefined:
                    undefined.setdefault((at, name, figure.score, figure.undefined), []).append(figure)
    for (_, name, score, why), same_reason in undefined.items():
        categories = ", ".join(figure.category for figure in same_reason)
        yield Gap(f"{score}, {name}: {categories}", counted(sum(figure.n for figure in same_reason), "answer"), why)
    if part.groups:
        if part.groups.undefined:
            yield Gap("groups of people", "", part.groups.undefined)
        for comparison in part.groups.compared:
            few = {figure.group: figure.undefined for figure in comparison.shares if figure.undefined}
            n = counted(comparison.n, "answer")
            yield from (
                Gap(f"{comparison.by}, {name}", f"fewer than {LEAST_PEOPLE} people", f"there are {why}")
                for name, why in few.items()
            )
            yield from (
                Gap(f"{comparison.by}, difference of {' and '.join(test.groups)}", n, test.undefined)
                for test in comparison.differences
                if test.undefined and not few.keys() & set(test.groups)
            )

    if part.ranking:
        for why, times in Counter(text.undefined for text in part.ranking.texts if text.undefined).items():
            yield Gap("scores of texts", counted(times, "text"), why)


def _agreement_gaps(agreement: Agreement, noun: str = "pair") -> Iterator[Gap]:
    figures = [(figure.name, figure) for figure in (*agreement.pooled, *agreement.summary)]
    for subset in (*agreement.subsets, *agreement.on_bins):
        figures.append((f"{subset.kappa.name}, {' and '.join(subset.annotators)}", subset.kappa))
    for name, figure in figures:
        if figure.undefined:
            yield Gap(name, counted(figure.n, noun), figure.undefined)


def _tier_gaps(tiers: TierFigures, noun: str) -> Iterator[Gap]:
    for tier, n, *_ in (row.values() for row in tiers.tables[0]):
        if not n:
            yield Gap(f"share of positive {noun}s, {str(tier).capitalize()}", f"0 {noun}s", "the tier is empty")


def _evaluation_gaps(outcome: Outcome) -> Iterator[Gap]:
    """Yield once what is undefined for the same reason: a tier without positives has no score of any system."""
    scores = (
        (record.tier, record.n, record.score is None, record.undefined) for record in outcome.scores if record.undefined
    )
    for tier, n, no_score, why in dict.fromkeys(scores):
        yield Gap(f"{'scores' if no_score else 'intervals of scores'} on {tier.capitalize()}", f"{n:,} HS", why or "")
    systems: dict[tuple[str, str, str], dict[str, None]] = {}
    for row in outcome.spreads:
        if row.undefined:
            what = "spread over tiers" if row.mean is None else "coefficient of variation over tiers"
            systems.setdefault((what, row.measure, row.undefined), {})[row.system] = None
    for (what, measure, why), names in systems.items():
        yield Gap(f"{what}, {measure}: {', '.join(names)}", counted(len(outcome.tiers), "tier"), why)
    for record in outcome.concordances if len(outcome.systems) > 1 else ():
        if record.undefined:
            tiers = f"{record.one.capitalize()} and {record.other.capitalize()}"
            yield Gap(
                f"Kendall's tau of {tiers}, {record.measure}", counted(record.n_systems, "system"), record.undefined
            )


def _person_gaps(person: PersonFigures, answer: str) -> Iterator[Gap]:
    n = counted(person.n_answers, answer)
    if person.answers and not person.n_answers:
        yield Gap(f"shares of answers, {person.name}", n, f"they have given no {answer} yet")
    if person.median_s is None:
        why = "no answer has a known time; answers from files and simulated people often have none"
        n = f"0 of {count(person.n_answers + person.skipped)} timed"
        yield Gap(f"median seconds per answer, {person.name}", n, why)


def score_picture(outcome: Outcome, measure: str) -> grid_map.Image:
    """The scores of all systems on all tiers by a measure, as a picture."""
    return grid_map.Image(lambda theme: png(outcome, measure, theme.inks))


def tau_rows(outcome: Outcome) -> list[tuple[str, list[Concordance]]]:
    """A row for every two tiers, with a cell for each measure; none for a single system, which has no ranking."""
    if len(outcome.systems) < 2:
        return []
    rows: dict[str, list[Concordance]] = {}
    for item in outcome.concordances:
        rows.setdefault(f"{item.one.capitalize()}, {item.other.capitalize()}", []).append(item)
    return list(rows.items())


def strip_folders(outcome: Outcome) -> Outcome:
    """The outcome with systems and pool named without folders, which are the study lead's own affair."""
    shorts = _number_repeats([make_printable(formatting.file_name(system.short)) for system in outcome.systems])
    names = _number_repeats([make_printable(formatting.file_name(system.name)) for system in outcome.systems])
    short_by_system = {system.short: short for system, short in zip(outcome.systems, shorts, strict=True)}
    renamed = zip(outcome.systems, names, shorts, strict=True)
    return replace(
        outcome,
        pool=formatting.file_name(outcome.pool),
        systems=tuple(replace(system, name=name, short=short) for system, name, short in renamed),
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
NOTE = mark("%(name)s: %(note)s")
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
    result += [_bias_section(scores) for scores in part.bias]
    result += [_ranking_section(part.ranking)] if part.ranking else []
    return result + ([_groups_section(part.groups)] if part.groups else [])


def _sheet(
    title: str, text: str, header: Sequence[str], rows: list[Row], notes: Iterable[str], forest: Forest | None
) -> TableSheet:
    if forest is not None and forest.n_rows > MOST_DRAWN:
        shown = say("no picture of %(number)s rows here; the command's --figures draws it", number=forest.n_rows)
        notes, forest = (*notes, shown), None
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
    forest_by_title, sheets = {share.title: share for share in of_survey(figures.shares)}, []
    header = (mark("Statement"), mark("Yes"), mark("No"), mark("Declined"), mark("Skipped"), mark("Share"), INTERVAL)
    for question, rows in figures.shares.groupby("question", sort=False):
        table: list[Row] = []
        for row in rows.to_dict("records"):
            shares = [say("undefined, because %(reason)s", reason=say("nobody said yes or no")), formatting.NOTHING]
            if row["n"]:
                shares = [formatting.decimal(row["share"]), formatting.bounds(row["low"], row["high"])]
            counts = (formatting.count(int(row[name])) for name in (*ANSWERS, SKIPPED))
            table.append([str(row["statement"]), *counts, *shares])
        sheets.append(_sheet(str(question), "", header, table, (), forest_by_title[str(question)]))
    return Section(mark("What people said"), text, tuple(sheets))


def _bias_section(scored_by_name: Mapping[str, ScoredAnswers]) -> Section:
    scheme, scored = next(iter(scored_by_name.values())).scheme, scored_by_name.items()
    forest_by_title, sheets = {item.title: item for item in of_bias(scored_by_name)}, []
    for score in SCHEMES[scheme]:
        figures = [(name, item) for name, of in scored for item in of.figures if item.score == score.name]
        formula = say("%(text)s (%(source)s)", text=join([score.formula]), source=score.source)
        header = (mark("Model, category"), mark("Score"), INTERVAL, mark("Answers"), mark("Templates"))
        rows: list[Row] = []
        for name, item in figures:
            value = f"undefined, because {item.undefined}" if item.value is None else formatting.decimal(item.value, 4)
            rests_on = (formatting.count(item.n), formatting.count(item.n_templates))
            rows.append([f"{name}, {item.category}", value, formatting.bounds(item.low, item.high), *rests_on])
        noted = ((item.category, item.note) for _, item in figures if item.note)
        notes = dict.fromkeys(say(NOTE, name=category, note=join([note])) for category, note in noted)
        sheets.append(_sheet(score.name, formula, header, rows, notes, forest_by_title.get(score.name)))
    n_unread = mark("%(name)s %(number)s of %(all)s")
    unreadable = [say(n_unread, name=name, number=of.n_unreadable, all=of.n) for name, of in scored]
    tied = [say("%(name)s %(number)s", name=name, number=of.n_tied) for name, of in scored if of.n_tied]
    sentences = [
        say("Intervals at %(percent)s by a jackknife over templates.", percent=LEVEL_SHOWN),
        say("Answers that cannot be read are left out of every figure: %(text)s.", text=unreadable),
    ]
    if tied:
        sentences.append(say("Where the likeliest options tie, only probabilities count: %(text)s.", text=tied))
    return Section(say("Bias, as %(name)s scores it", name=scheme.upper()), join(sentences), tuple(sheets))


def _ranking_section(ranking: Ranking) -> Section:
    forests = {forest.title: forest for forest in of_ranking(ranking)}
    columns = (mark("Text"), mark("Answers"), mark("Wins"), mark("Pairs"), mark("Score"), INTERVAL, mark("Rank"))
    tables, notes = dict[str, list[Row]](), dict[str, dict[str, None]]()
    for item in ranking.texts:
        title = ranking.titles[item.row]
        counts = (formatting.count(item.n), f"{item.wins:g}", formatting.count(item.n_pairs))
        figures = [formatting.NOTHING] * 3
        if item.undefined:
            notes.setdefault(title, {})[say("undefined, because %(reason)s", reason=say(item.undefined))] = None
        else:
            figures = [formatting.decimal(item.score), formatting.bounds(item.low, item.high), str(item.rank)]
        tables.setdefault(title, []).append([ranking.bodies[item.text_id], *counts, *figures])
    sheets = (_sheet(of, "", columns, rows, notes.get(of, ()), forests[of]) for of, rows in tables.items())
    basis = say(
        "%(answers)s answers to comparisons of %(size)s texts each.", answers=ranking.n_answers, size=ranking.size
    )
    agreed = [figure for figure in (ranking.agreement.pooled if ranking.agreement else ()) if figure.value is not None]
    sentences = [
        say("%(name)s %(number)s", name=figure.name, number=Written(formatting.decimal(figure.value)))
        for figure in (*agreed, ranking.transitive)
        if figure.value is not None
    ]
    on_pairs = [say("On each two texts of a comparison: %(text)s.", text=sentences)] if sentences else []
    how = say("How: %(text)s.", text=join(ranking.methods, "; "))
    return Section(say("Texts that were compared"), join([basis, *on_pairs, how]), tuple(sheets))


def _groups_section(figures: GroupFigures) -> Section:
    if figures.undefined:
        return Section(GROUPS, say("Undefined, because %(reason)s.", reason=join([figures.undefined])), ())
    why = figures.exploratory
    sheets = [sheet for of in figures.compared for sheet in _group_sheets(of, why.get(of.by, ""))]
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
    rows: list[Row] = []
    for share in (share for share in comparison.shares if not share.undefined):
        numbers = (formatting.count(share.people), formatting.count(share.n), formatting.decimal(share.value, 4))
        rows.append([f"{share.label}, {share.group}", *numbers])
    sentences = [say("%(number)s answers.", number=comparison.n)]
    if comparison.n_without:
        sentences.append(say("%(number)s more are by people for whom it is unknown.", number=comparison.n_without))
    header = (mark("Answer, group"), mark("People"), mark("Answers"), mark("Share"))
    yield _sheet(comparison.by, join(sentences), header, rows, (*exploratory_note, *few), None)
    if defined := [figure for figure in comparison.differences if not figure.undefined]:
        (forest,) = of_groups([comparison])
        differences, notes = [], dict[str, None]()
        for figure in defined:
            groups, ends = " - ".join(figure.groups), formatting.bounds(figure.low, figure.high)
            value, p, holm = (formatting.decimal(number, 4) for number in (figure.value, figure.p, figure.holm))
            differences.append([f"{figure.label}: {groups}", value, ends, p, holm])
            notes[say(NOTE, name=groups, note=join([figure.least_p_note]))] = None
        methods = (say(NOTE, name=join([name]), note=join([method])) for name, method in METHODS.items())
        names = (mark("Answer, groups"), mark("Difference"), INTERVAL, mark("p"), mark("Holm"))
        title = say("%(group)s: differences of shares", group=comparison.by)
        yield _sheet(title, "", names, differences, (*notes, *methods), forest)
