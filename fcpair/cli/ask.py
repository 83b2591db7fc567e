"""ask import, open, results; groups: what people say, and how groups of them differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.given_options import take_effect
from fcpair.cli.options import (
    PATH,
    FigureFolder,
    as_click_type,
    close_at_end,
    figures_option,
    format_option,
    grid_option,
    open_grid,
    option,
    round_option,
    seed_option,
    shared_option,
    sheet_option,
    study_option,
    with_study,
    write_figures,
)
from fcpair.cli.output import Table, emit, plots, print_message, print_run, status_spinner, studies, tabular
from fcpair.cli.terminal import Cell
from fcpair.errors import InputError, StageError
from fcpair.param_values import N_PEOPLE
from fcpair.params import Setup
from fcpair.records import Role

if TYPE_CHECKING:
    from fcpair.stages.stats.group_differences import GroupComparison
    from fcpair.study import Study

SURVEY = "survey"
NUMBERED = "p"  # what pseudonyms of respondents begin with
COUNTS = ("yes", "no", "decline", "skipped")

survey_option = shared_option("--grid", metavar="NAME", default=SURVEY)


@click.group()
def ask() -> None:
    """Surveys: what people have heard and believe. import, open, results.

    \b
    Example:
      fcpair ask import statements.csv
      fcpair ask open --respondents 250
      fcpair ask results --keep "believed > 0.60"
    """


@ask.command("import")
@click.argument("file", type=PATH)
@shared_option(
    "--question",
    "questions",
    multiple=True,
    metavar="TEXT",
    default=("heard", "believed"),
    detail="It is asked of each statement; may be repeated.",
)
@option("--answers", metavar="YES,NO,DECLINE", default="yes,no,decline", help="The names of the three answers.")
@option(
    "--part",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of people who answer each statement.  [default: all]",
)
@option("--as-list", "listed", is_flag=True, help="Show a list of statements on each screen instead of one.")
@option("--suggest", metavar="TEXT", help="An open question at the end; empty for none.")
@shared_option("--title", default=Setup().title, detail="For a new study.")
@seed_option
@survey_option
@sheet_option
@study_option
def import_(
    file: Path,
    questions: tuple[str, ...],
    answers: str,
    part: int | None,
    listed: bool,
    suggest: str | None,
    title: str,
    seed: int,
    grid: str,
    study: Any,
) -> None:
    """Plan a survey of the statements of a file.

    FILE is a table with the column `statement`; others, such as `category`, `group` and `language`, stay with it. The
    study is created if it does not exist. Everybody answers every statement, or a balanced part (`--part`).

    \b
    Example:
      fcpair ask import statements.csv --study survey.db
      fcpair ask import statements.csv --part 50 --question "Have you heard this?" --question "Do you believe it?"
    """
    from fcpair.stages.survey import SUGGEST, survey_plans

    options: dict[str, Any] = {"part": part, "as_list": listed, "suggest": SUGGEST if suggest is None else suggest}
    choice_names = [name.strip() for name in answers.split(",")]
    plans = survey_plans(grid, file, questions, answers=choice_names, seed=seed, **options)
    if studies.Study.exists(study):
        if title != Setup().title:
            raise click.UsageError("--title has no effect on a study that exists already; omit it")
        opened = close_at_end(studies.Study(study))
        runs = opened.import_survey(plans)
    else:
        opened = close_at_end(studies.Study.create(study, Setup(title=title), grids=plans))
        try:
            runs = [opened.grid(plan.name).pair() for plan in plans]
        except BaseException:
            opened.remove()
            raise
    for run in runs:
        print_run(run)
    print_message(
        "next: `fcpair ask open` assigns it; options of `fcpair serve` set what people are asked about themselves"
    )


@ask.command("open")
@option(
    "--respondents",
    "n",
    type=as_click_type(int, N_PEOPLE),
    metavar="N",
    help="Add this many respondents under numbered pseudonyms.",
)
@survey_option
@with_study
def open_(study: Study, n: int | None, grid: str) -> None:
    """Assign a survey to its respondents.

    The respondents are those added by `fcpair people add NAME --role respondent`, or N new ones. People added later are
    asked as well, unless everybody has only a part.

    \b
    Example:
      fcpair ask open --respondents 250
      fcpair people invite --all --out links.csv
      fcpair serve
    """
    respondents = [person.name for person in study.people if person.role is Role.RESPONDENT and not person.retired]
    if n is None and not respondents:
        raise StageError(
            "there are no respondents; add N new ones with `--respondents N`, or add people by name with "
            "`fcpair people add NAME --role respondent`"
        )
    study.grid(grid)
    if n is not None:
        taken = {person.name for person in study.people}
        width = len(str(n + len(taken)))
        pseudonyms = (name for at in count(1) if (name := f"{NUMBERED}{at:0{width}d}") not in taken)
        study.add_people([*islice(pseudonyms, n)], Role.RESPONDENT)
    for run in study.open_survey(grid):
        print_run(run)
    print_message("next: `fcpair people invite --all --out links.csv` makes links, and `fcpair serve` lets people in")


@ask.command()
@take_effect("--statement", "--question-column", "--person", "--answer", only_with="FILE")
@take_effect("--grid", "--study", not_with="FILE")
@click.argument("file", required=False, type=PATH)
@option("--statement", metavar="COLUMN", default="row", help="The column of the statements.")
@option("--question-column", "question", metavar="COLUMN", default="column", help="The column of the questions.")
@option("--person", metavar="COLUMN", default="by", help="The column of the people who answered.")
@shared_option("--answer", metavar="COLUMN", default="answer")
@option("--keep", metavar="RULE", help="The rule for keeping statements, such as 'believed > 0.60'.")
@shared_option("--by", metavar="COLUMN", detail="In a study, a question about people.")
@option("--population-size", "population", type=click.IntRange(min=1), metavar="N", help="The size of the population.")
@option("--margin", type=float, metavar="SHARE", help="Show the number of respondents that this margin of error needs.")
@shared_option("--out", type=PATH, detail="Only kept statements are written.")
@figures_option
@format_option
@survey_option
@sheet_option
@study_option
def results(
    file: Path | None,
    statement: str,
    question: str,
    person: str,
    answer: str,
    keep: str | None,
    by: str | None,
    population: int | None,
    margin: float | None,
    out: Path | None,
    figures: FigureFolder | None,
    form: str,
    grid: str,
    study: Any,
) -> None:
    """Count what people said, with intervals.

    A share is yes over yes and no; its interval is Wilson's at 95 %. `--keep` keeps statements whose share is strictly
    greater; kept or not, those whose interval contains the threshold are undecided. Groups of fewer than five people
    have no figures, and are never crossed. Without FILE, it reads the answers of a study.

    \b
    Example:
      fcpair ask results --keep "believed > 0.60" --out kept.csv --figures figures
      fcpair ask results answers.csv --statement text --question-column asked --person id --answer said --format json
    """
    from fcpair.stages import survey as surveys
    from fcpair.stages.stats.intervals import LEVEL

    rule = surveys.parse_keep(keep) if keep is not None else None
    if out is not None and (rule is None or by is not None):
        raise InputError("`--out` writes the statements that a rule keeps; give `--keep`, and no `--by`")
    if rule is not None and by is not None:
        raise InputError("`--keep` goes by the answers of all people; give `--keep` or `--by`")
    if file is not None:
        from fcpair.files.surveys.items import read_survey

        place, simulated = str(file), None
        survey = read_survey(file, statement=statement, question=question, person=person, answer=answer, by=by)
    else:
        survey_grid, place = open_grid(study, grid)
        survey, simulated = survey_grid.survey.answers((by,) if by else ()), survey_grid.desk.simulated_note
    statements = surveys.add_shares(surveys.count_answers(survey.given, by))
    statements = surveys.hide_few(statements) if by else statements
    statements = surveys.add_verdicts(statements, rule) if rule else statements
    if out is not None:
        chosen = statements.loc[statements["verdict"] == "kept", ["statement", *surveys.KEPT_COLUMNS]]
        kept = survey.statements.merge(chosen, on="statement")
        tabular.write_table(kept, out)
        print_message(f"{out}: {len(kept):,} of {survey.given['statement'].nunique():,} statements")
    if figures is not None:
        write_figures(figures, plots.of_survey(statements, rule, simulated))
    people = int(survey.given["person"].nunique())
    error, rows = surveys.margin_of_error(people, population), [*tabular.plain_rows(statements)]
    needed = surveys.sample_size(margin, population) if margin is not None else None
    data = {
        **{"place": place, "people": people, "population": population, "margin": error},
        **{"assumption": surveys.ASSUMPTION, "people_needed": needed, "keep": str(rule) if rule else None},
        **{"level": LEVEL, "by": by, "statements": rows},
    }
    of_population = f" of {population:,}" if population else ""
    notes = [
        "share: yes over yes and no; interval: Wilson's at 95 % (10.1080/01621459.1927.10502953)",
        f"margin of error of {people:,} people{of_population}: {error:.6f}, after Cochran, which {surveys.ASSUMPTION}",
    ]
    if needed is not None:
        notes.append(f"a margin of {margin:g} needs {needed:,} people{of_population}, and {surveys.ASSUMPTION}")
    if by is not None:
        notes.append("a group that fewer than five people answered in has no figures; groups are never crossed")
    if rule is not None:
        counts = []
        for verdict in ("kept", "dropped", "undefined"):
            flags = [row["undecided"] for row in rows if row["verdict"] == verdict]
            undecided = f" ({n} undecided)" if (n := flags.count("yes")) else ""
            counts += [f"{len(flags)} {verdict}{undecided}"] * bool(flags)
        interval = f"undecided are those whose interval contains {rule.threshold:g}"
        notes.append(f"{rule}: {', '.join(counts)}; {interval}")
    title = f"{place}, {people:,} people" + (f", by {by}" if by else "")
    emit(form, data, _survey_tables(title, rows, notes), rows, simulated=simulated)


def _survey_tables(title: str, rows: Sequence[dict[str, Cell]], notes: list[str]) -> list[Table]:
    """A table for each question; what nobody did, and verdicts if there are none, have no column."""
    tables: list[Table] = []
    for question in dict.fromkeys(row["question"] for row in rows):
        question_rows: list[dict[str, Cell]] = []
        for row in rows:
            if row["question"] == question:  # narrow enough for 80 columns: an interval, and a verdict, are one column
                cells = {of: cell for of, cell in row.items() if of not in ("low", "high", "verdict", "undecided")}
                cells["interval"] = None if row["low"] is None else f"{row['low']:.3f}–{row['high']:.3f}"
                if "verdict" in row:
                    cells["verdict"] = f"{row['verdict']}{', undecided' * (row['undecided'] == 'yes')}"
                question_rows.append(cells)
        empty = [name for name in ("skipped", "verdict") if not any(row.get(name) for row in question_rows)]
        names = [name for name in question_rows[0] if name not in ("question", "n", *empty)]
        tables.append(Table(f"{title}: {question}", names, [[row[name] for name in names] for row in question_rows]))
    tables[-1] = replace(tables[-1], notes=notes)
    return tables


DIFFERENCES = ("label", "groups", "difference", "low", "high", "p", "Holm")
ODDS = ("label", "groups", "odds ratio", "low", "high")
MIXED = ("mixed_odds_ratio", "mixed_odds_low", "mixed_odds_high")
NO_ODDS = (None, None, None)


@click.command()
@take_effect("--item", "--annotator", only_with="FILE")
@take_effect("--round", "--grid", "--study", not_with="FILE")
@click.argument("file", required=False, type=PATH)
@option("--item", metavar="COLUMN", help="The column of the labelled items.")
@option("--annotator", metavar="COLUMN", help="The column of the annotators.")
@shared_option("--labels", "label", metavar="COLUMN", detail="In a study, a question of the round.")
@shared_option("--by", multiple=True, metavar="COLUMN", detail="In a study, a question about people. May be repeated.")
@option("--mixed", is_flag=True, help="Also fit one mixed model of all groups (extra `mixed`).")
@shared_option("--seed", type=click.IntRange(min=0), default=13)
@figures_option
@format_option
@round_option
@grid_option
@sheet_option
@study_option
def groups(
    file: Path | None,
    label: str | None,
    by: tuple[str, ...],
    mixed: bool,
    seed: int,
    figures: FigureFolder | None,
    form: str,
    name: str | None,
    grid: str | None,
    study: Any,
    **columns: str | None,
) -> None:
    """Test whether groups of annotators label differently.

    Shares of each label in each group, their differences with intervals that respect items and annotators, permutation
    tests, odds, and agreement within and across groups. Without FILE, it compares those who answered a round, by what
    they said about themselves; without --by, by what was declared beforehand. Fewer than five people are not a group.
    The result is an association among these annotators, never a cause.

    \b
    Example:
      fcpair groups labels.csv --item pair --annotator by --labels label --by gender
      fcpair groups --grid survey --by Gender --format json
    """
    from fcpair.stages.stats.group_differences import ASSOCIATION, METHODS, compare_annotator_groups

    if file is not None:
        if not (all(columns.values()) and label and by):
            raise InputError("name the columns of the file with `--item`, `--annotator`, `--labels` and `--by`")
        named = {"label": label, **columns}
        table = tabular.read_table(file, [*(str(named[name]) for name in ("item", "annotator", "label")), *by])
        labels = table[list(by)].assign(
            **{name: table[column] for name, column in named.items()}, line=table[tabular.LINE]
        )
        labels = labels[labels["label"] != ""].reset_index(drop=True)
        labels.attrs["place"] = tabular.place_of(table)
        with status_spinner("comparing groups"):
            compared = compare_annotator_groups(labels, by, seed=seed, mixed=mixed)
        place, simulated, question, exploratory = str(file), None, label, {}
    else:
        chosen_grid, place = open_grid(study, grid)
        with status_spinner("comparing groups"):
            found = chosen_grid.survey.groups(by, round=name, labels=label, seed=seed, mixed=mixed)
        place, simulated = f"{place}, round {found.round}", found.simulated
        compared, question, exploratory = found.compared, found.question, found.exploratory
    if figures is not None:
        write_figures(figures, plots.of_groups(compared, simulated))
    data = {
        **{"place": place, "label": question, "groups": [*map(asdict, compared)]},
        **{"exploratory": exploratory, "methods": METHODS, "note": ASSOCIATION},
    }
    tables = [
        table
        for comparison in compared
        for table in _tables(comparison, f"{place}: {question}", exploratory.get(comparison.by))
    ]
    notes = [*(f"{name}: {how}" for name, how in METHODS.items()), f"the result is {ASSOCIATION}"]
    tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, *notes])
    own = ("p", "holm", "exact", "n_drawn", "p_error", "least_p", "odds_ratio", "odds_low", "odds_high")
    rows: list[dict[str, Cell]] = [
        {
            **{"by": comparison.by, "label": of.label, "group": of.groups[0], "other": of.groups[1]},
            **{"people": of.people[0], "other_people": of.people[1]},
            **{"difference": of.value, "low": of.low, "high": of.high},
            **{name: getattr(of, name) for name in own},
            **dict(zip(MIXED, of.mixed or NO_ODDS, strict=True)),
            **{"undefined": of.undefined or "", "note": of.note},
        }
        for comparison in compared
        for of in comparison.differences
    ]
    emit(form, data, tables, rows, simulated=simulated)


def _tables(comparison: GroupComparison, heading: str, exploratory: str | None) -> list[Table]:
    without = f", {comparison.n_without:,} more of people for whom it is not known" if comparison.n_without else ""
    title = f"{heading} by {comparison.by}, {comparison.n:,} labels{without}"
    exploratory_notes = [f"{comparison.by} is exploratory: {exploratory}"] if exploratory else []
    shares = [[of.label, of.group, of.people, of.n, of.value] for of in comparison.shares]
    few = dict.fromkeys(
        f"{of.group}: undefined, because there are {of.undefined}" for of in comparison.shares if of.undefined
    )
    differences: list[list[Cell]] = []
    remarks: dict[str, None] = {}
    odds: list[list[Cell]] = []
    mixed: list[list[Cell]] = []
    for of in comparison.differences:
        names = f"{of.groups[0]} - {of.groups[1]}"
        differences.append([of.label, names, of.value, of.low, of.high, of.p, of.holm])
        # Why it is undefined, or what there is to say; and the least p, with what it is made from.
        said = f"undefined, because {of.undefined}" if of.undefined else of.note
        remarks[f"{names}: {'; '.join(filter(None, (said, of.least_p_note)))}"] = None
        odds.append([of.label, names, of.odds_ratio, of.odds_low, of.odds_high])
        mixed += [[of.label, names, *of.mixed]] if of.mixed else []
    together = [[" and ".join(dict.fromkeys(of.groups)), of.n, of.value] for of in comparison.together]
    return [
        Table(title, ("label", "group", "people", "n", "share"), shares, [*exploratory_notes, *few]),
        Table("Differences of shares", DIFFERENCES, differences, list(remarks)),
        Table("Odds, clustered by item and annotator", ODDS, odds),
        *[Table("Odds by one mixed model of all groups", ODDS, mixed)] * bool(mixed),
        Table("How often two people gave an item the same label", ("groups", "n", "agreement"), together),
    ]
