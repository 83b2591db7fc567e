"""A survey, bias scores and groups of annotators as the report shows them: pictures, and tables with the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fcpair.bias import SCHEMES, BiasFigure, Scored
from fcpair.bias.scoring import LEVEL, METHOD
from fcpair.report import formatting
from fcpair.report.data import AskedPart, GroupFigures, SurveyFigures
from fcpair.report.figures import Forest, Inks, grid_map
from fcpair.report.figures.forest import picture
from fcpair.report.figures.forest_plots import of_bias, of_groups, of_survey
from fcpair.report.figures.map_colours import hexadecimal
from fcpair.stages.stats.group_differences import ASSOCIATION, METHODS, Compared
from fcpair.stages.surveys.survey import ANSWERS, ASSUMPTION, SKIPPED

MOST_DRAWN = 60  # rows of a picture that a page shows


@dataclass(frozen=True)
class Sheet:
    """A table whose first column names its rows, the picture of it where there is one, and what is said below it."""

    title: str
    text: str
    header: tuple[str, ...]
    rows: list[list[str]]
    notes: tuple[str, ...] = ()
    image: grid_map.Image | None = None
    alt: str = ""


@dataclass(frozen=True)
class Section:
    """Sheets under a heading."""

    heading: str
    text: str
    sheets: tuple[Sheet, ...]


def sections(part: AskedPart) -> list[Section]:
    """What a report, or a page, says of what was found by asking."""
    found = [_survey(part.survey)] if part.survey else []
    found += [_bias(one) for one in part.bias]
    return found + ([_all_groups(part.groups)] if part.groups else [])


def _image(forest: Forest | None) -> grid_map.Image | None:
    if forest is None or forest.n_rows > MOST_DRAWN:
        return None
    return grid_map.in_both(
        lambda theme: picture(forest, "png", Inks(page=hexadecimal(theme.page), ink=hexadecimal(theme.ink)))
    )


def _not_drawn(forest: Forest | None) -> tuple[str, ...]:
    if forest is None or forest.n_rows <= MOST_DRAWN:
        return ()
    return (f"no picture of {forest.n_rows:,} rows here; the command's --figures draws it",)


def _survey(found: SurveyFigures) -> Section:
    text = (
        f"{formatting.counted(found.people, 'person', 'people')} answered; a margin of error of {found.margin:.3f} "
        f"after Cochran, which {ASSUMPTION}. A share is yes over yes and no, its interval Wilson's at 95 %. What "
        "stands by number has its words in fcpair ask results."
    )
    drawn = {one.title: one for one in of_survey(found.shares)}
    sheets = []
    for question, rows in found.shares.groupby("question", sort=False):
        forest = drawn[str(question)]
        table = [
            [str(row["statement"]), *(formatting.count(int(row[name])) for name in (*ANSWERS, SKIPPED)), *_share(row)]
            for row in rows.to_dict("records")
        ]
        header = ("Statement", "Yes", "No", "Declined", "Skipped", "Share", "95 % interval")
        sheets.append(Sheet(str(question), "", header, table, _not_drawn(forest), _image(forest), forest.description))
    return Section("What people said", text, tuple(sheets))


def _share(row: Mapping[object, float]) -> list[str]:
    if not row["n"]:
        return ["undefined, because nobody said yes or no", formatting.NOTHING]
    return [formatting.decimal(row["share"]), formatting.bounds(row["low"], row["high"])]


def _bias(found: Mapping[str, Scored]) -> Section:
    scheme = next(iter(found.values())).scheme
    drawn = {one.title: one for one in of_bias(found)}
    sheets = []
    for score in SCHEMES[scheme]:
        own = [(by, one) for by, scored in found.items() for one in scored.figures if one.score == score.name]
        forest = drawn.get(score.name)
        sheets.append(
            Sheet(
                score.name,
                f"{score.formula} ({score.source})",
                ("Model, category", "Score", "95 % interval", "Answers", "Templates"),
                [_scored(by, one) for by, one in own],
                (*dict.fromkeys(f"{one.category}: {one.note}" for _, one in own if one.note), *_not_drawn(forest)),
                _image(forest),
                forest.description if forest else "",
            )
        )
    unreadable = ", ".join(f"{by} {one.n_unreadable:,} of {one.n:,}" for by, one in found.items())
    text = f"Intervals at {LEVEL:.0%} by a {METHOD}. Answers that cannot be read enter no figure: {unreadable}."
    if tied := ", ".join(f"{by} {one.n_tied:,}" for by, one in found.items() if one.n_tied):
        text += f" Where the likeliest options tie, only probabilities count: {tied}."
    return Section(f"Bias, as {scheme.upper()} scores it", text, tuple(sheets))


def _scored(by: str, one: BiasFigure) -> list[str]:
    value = f"undefined, because {one.undefined}" if one.value is None else formatting.decimal(one.value, 4)
    rests_on = [formatting.count(one.n), formatting.count(one.n_templates)]
    return [f"{by}, {one.category}", value, formatting.bounds(one.low, one.high), *rests_on]


def _all_groups(found: GroupFigures) -> Section:
    if found.undefined:
        return Section("Groups of people", f"Undefined, because {found.undefined}.", ())
    sheets = [sheet for one in found.compared for sheet in _groups(one, found.exploratory.get(one.by, ""))]
    text = f"Answers to “{found.question}”, by what people said about themselves. What is found is {ASSOCIATION}."
    return Section("Groups of people", text, tuple(sheets))


def _groups(one: Compared, exploratory: str) -> Iterator[Sheet]:
    few = dict.fromkeys(f"{of.group}: undefined, because there are {of.undefined}" for of in one.shares if of.undefined)
    told = [f"exploratory: {exploratory}"] if exploratory else []
    rows = [
        [
            f"{of.label}, {of.group}",
            formatting.count(of.people),
            formatting.count(of.n),
            formatting.decimal(of.value, 4),
        ]
        for of in one.shares
        if not of.undefined
    ]
    without = f"{one.n_without:,} more are of people of whom it is not known." if one.n_without else ""
    yield Sheet(
        one.by,
        " ".join(filter(None, [f"{one.n:,} answers.", without])),
        ("Answer, group", "People", "Answers", "Share"),
        rows,
        (*told, *few),
    )
    differences = [
        [f"{of.label}: {of.groups[0]} - {of.groups[1]}", *_difference(of.value, of.low, of.high, of.p, of.holm)]
        for of in one.differences
        if not of.undefined
    ]
    if differences:
        (forest,) = of_groups([one])
        about_p = (f"{of.groups[0]} - {of.groups[1]}: {of.about_p}" for of in one.differences if not of.undefined)
        notes = (*dict.fromkeys(about_p), *(f"{name}: {how}" for name, how in METHODS.items()), *_not_drawn(forest))
        header = ("Answer, groups", "Difference", "95 % interval", "p", "Holm")
        yield Sheet(
            f"{one.by}: differences of shares", "", header, differences, notes, _image(forest), forest.description
        )


def _difference(*values: float | None) -> Sequence[str]:
    value, low, high, p, holm = values
    return [
        formatting.decimal(value, 4),
        formatting.bounds(low, high),
        formatting.decimal(p, 4),
        formatting.decimal(holm, 4),
    ]
