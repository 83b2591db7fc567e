"""items expand, bias score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.given_options import take_effect
from fcpair.cli.options import (
    PATH,
    FigureFolder,
    figures_option,
    format_option,
    grid_option,
    open_grid,
    option,
    round_option,
    shared_option,
    sheet_option,
    study_option,
    write_figures,
)
from fcpair.cli.output import Row, Table, emit, plots, print_message, print_rows, tabular
from fcpair.cli.terminal import Cell
from fcpair.errors import InputError, reject
from fcpair.params import BELIEVED

if TYPE_CHECKING:
    from fcpair.bias.answers import Answers
    from fcpair.bias.scoring import ModelDivergence, ScoredAnswers

SCHEMES = ("bbq", "kobbq", "cbbq", "pbbq")  # those of fcpair.bias, which a test holds against these
READERS = ("bbq", "items", "lm-eval")
ALL = "(mean over statements)"
LIMIT = 100_000  # that of fcpair.bias.items
LAYOUTS = ("table", "hf", "lm-eval")  # a table, and those of fcpair.files.surveys.items.item_files
TEMPLATE_READERS = ("fcpair", "bbq", "kobbq")  # those of fcpair.files.surveys.templates, as a test checks


@click.group()
def bias() -> None:
    """Bias of language models in questions about two groups: score.

    \b
    Example:
      fcpair bias score said.jsonl --as bbq --answer model
    """


@bias.command()
@take_effect("--reader", "--answer", "--probability", "--templates", "--strict-targets", only_with="FILES")
@take_effect("--round", "--grid", "--study", not_with="FILES")
@take_effect("--templates", "--strict-targets", only_with="--reader bbq")
@take_effect("--probability", only_with="--reader items")
@take_effect("--answer", not_with="--reader lm-eval")
@take_effect("--question", "--smooth", only_with="--survey")
@click.argument("files", nargs=-1, type=PATH)
@option(
    "--as", "scheme", type=click.Choice(SCHEMES), required=True, help="The paper whose definition of the scores to use."
)
@shared_option(
    "--reader",
    choices=READERS,
    detail="BBQ's JSON Lines, tables of items as `fcpair items expand` writes them, or the samples that "
    "lm-evaluation-harness logs of such items.",
)
@shared_option("--answer", metavar="COLUMN")
@option(
    "--probability",
    "shares",
    multiple=True,
    metavar="COLUMN",
    help="The column of an option's probability, for items; give three, in order.",
)
@option("--templates", type=PATH, metavar="FILE", help="BBQ's templates, for the stereotyped groups.")
@option(
    "--strict-targets",
    is_flag=True,
    help="Leave out BBQ's items with two options of the stereotyped group or none, as its released script does; its "
    "printed figures keep them.",
)
@option(
    "--survey",
    "people",
    metavar="GRID|FILE",
    help="A survey: compare the model with its respondents. In a study, the name of its grid; with FILES, a file of "
    "answers as `fcpair answers export` writes it.",
)
@shared_option("--question", metavar="TEXT", default=BELIEVED, detail="It is compared.")
@option(
    "--smooth",
    type=click.FloatRange(min=0),
    metavar="SHARE",
    default=0.0,
    help="Add this to both shares of the model, so that a zero does not leave the divergence undefined.",
)
@figures_option
@sheet_option
@format_option
@round_option
@grid_option
@study_option
def score(
    files: tuple[Path, ...],
    scheme: str,
    people: str | None,
    question: str,
    smooth: float,
    figures: FigureFolder | None,
    form: str,
    name: str | None,
    grid: str | None,
    study: Any,
    **reading: Any,
) -> None:
    """Score answers to bias tests.

    FILES are JSON Lines as BBQ released them, plain or compressed (.gz), or tables of items with answers. Without
    FILES, it scores the models that answered a round whose rows are items, and notes the scores in the run log. An
    answer is biased if it names a stereotyped group where the question is negative, or another group where it is not.
    An answer that cannot be read as an option is counted, but enters no figure. Intervals leave out one template at a
    time, as items of one template are not independent.

    \b
    Example:
      fcpair bias score preds_Age.jsonl.gz --as bbq --answer unifiedqa-t5-11b_pred_race
      fcpair bias score items.csv --reader items --as pbbq --probability a --probability b --probability c
      fcpair bias score --grid test --as pbbq --survey survey --format json
    """
    from fcpair.bias.scoring import score_models
    from fcpair.files.surveys.items import read_survey
    from fcpair.stages.survey import count_answers

    if files:
        place, simulated = [str(file) for file in files], None
        # How often people gave each answer to each statement, in a file of a survey.
        given = None if people is None else count_answers(read_survey(Path(people)).given)
        scored = score_models({"": _read_answers(files, **reading)}, scheme, given, question=question, smooth=smooth)
    else:
        chosen_grid, at = open_grid(study, grid)
        place, simulated = [at], chosen_grid.desk.simulated_note
        scored = chosen_grid.survey.score_bias(scheme, name, survey=people, question=question, smooth=smooth)
    if figures is not None:
        write_figures(figures, plots.of_bias(scored.scores, simulated))
    answer = reading["answer"]
    answer_name = answer or ", ".join(reading["shares"]) or ", ".join(place)
    results: list[dict[str, Any]] = []
    rows: list[dict[str, Cell]] = []
    tables: list[Table] = []
    for by, item in scored.scores.items():
        answers, divergence = scored.answers[by], scored.divergences.get(by)
        left_out = ("without_target", "two_targets", "strict_targets", "n_without_context")
        counts = {of.removeprefix("n_"): getattr(answers, of) for of in left_out}
        counts |= {of: dict(counts[of]) for of in left_out[:2]}
        results.append({"by": by, **item.as_dict(), "unread": list(answers.unread), **counts})
        model_cell: dict[str, Cell] = {"by": by} if by else {}
        nothing: dict[str, Cell] = {"statement": ""} if divergence else {}
        rows += [model_cell | vars(figure) | nothing for figure in item.figures]
        tables += _tables(item, by or answer_name, answers)
        if divergence:
            results[-1]["people"] = divergence.as_dict()
            rows += [model_cell | nothing | row for row in _rows_of_people(divergence)]
            tables += _tables_of_people(divergence, by or answer_name, str(people))
    data: dict[str, Any] = {"places": place, "answer": answer}
    data |= {name: value for name, value in results[0].items() if name != "by"} if files else {"models": results}
    emit(form, data, tables, rows, simulated=simulated)


def _read_answers(
    files: tuple[Path, ...],
    reader: str,
    answer: str | None,
    shares: tuple[str, ...],
    templates: Path | None,
    *,
    strict_targets: bool,
) -> Answers:
    from fcpair.files.surveys.bbq import read_bbq, read_stereotyped
    from fcpair.files.surveys.items import read_item_answers, read_lm_eval

    if reader != "bbq":
        return read_item_answers(files, answer, shares) if reader == "items" else read_lm_eval(files)
    if answer is None:
        raise InputError("name with `--answer` the field of the files that has the answers")
    return read_bbq(files, answer, read_stereotyped(templates) if templates else None, strict_targets=strict_targets)


COLUMNS = ("category", "value", "low", "high", "n", "templates")


def _tables(scored: ScoredAnswers, answer: str, read: Answers) -> list[Table]:
    """A table for each score, with its formula."""
    facts = scored.as_dict()
    tables: list[Table] = []
    tied = f", {scored.n_tied:,} tied" if scored.n_tied else ""
    for name, entry in facts["scores"].items():
        figures = [figure for figure in scored.figures if figure.score == name]
        rows = [[of.category, of.value, of.low, of.high, of.n, of.n_templates] for of in figures]
        counts = "" if tables else f", {scored.n:,} answers, {scored.n_unreadable:,} of them unreadable{tied}"
        remarks = [f"{of.category}: {of.note}" for of in figures if of.note]
        remarks += [f"{of.category}: without {of.n_tied:,} whose likeliest options tie" for of in figures if of.n_tied]
        undefined = _undefined_notes({of.category: of.undefined for of in figures})
        notes = [f"{entry['formula']} ({entry['source']})", *undefined, *dict.fromkeys(remarks)]
        tables.append(Table(f"{answer}{counts}: {name}", COLUMNS, rows, notes))
    last = [f"low, high: {facts['level']:.0%} interval, {facts['interval']}", *_left_out_notes(read)]
    tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, *last])
    return tables


def _undefined_notes(reasons: Mapping[str, str | None]) -> list[str]:
    return [f"{name}: undefined, because {reason}" for name, reason in reasons.items() if reason]


def _left_out_notes(read: Answers) -> Iterator[str]:
    """Notes on what could not be read, and on items that have no option of the stereotyped group, or two."""
    if times := Counter(read.unread):
        listed = [f"`{answer}`" + (f" ({n:,} times)" if n > 1 else "") for answer, n in times.most_common(5)]
        yield f"unreadable: {', '.join(listed)}{', ...' * (len(times) > len(listed))}"
    kept, why = ("left out", "as") if read.strict_targets else ("kept", "though")
    for counts, options, rule in (
        (read.without_target, "no option is", "any group is the biased answer to their non-negative questions"),
        (read.two_targets, "two options are", "the first counts"),
    ):
        if counts:
            listed = [f"{name} ({n:,})" for name, n in islice(counts.items(), 10)]
            shown = ", ".join(listed) + ", ..." * (len(counts) > len(listed))
            end = "" if read.strict_targets else f"; {rule}"
            yield f"{kept}, {why} {options} of the stereotyped group: {sum(counts.values()):,}, of {shown}{end}"
    if read.n_without_context:
        yield f"left out, as the question was asked alone: {read.n_without_context:,} with a clear context"


PEOPLE_COLUMNS = ("statement", "people", "yes", "n", "target", "KL")


def _tables_of_people(divergence: ModelDivergence, answer: str, people: str) -> list[Table]:
    """A table of statements and one of means."""
    rows = [[of.statement, of.people, of.people_share, of.n, of.model_share, of.value] for of in divergence.statements]
    facts = divergence.as_dict()
    notes = [
        f"yes: the share of yes over yes and no to `{divergence.question}`; target: that of the option which follows "
        "the stereotype over it and the other group's, in the ambiguous items about it whose answers can be read (n)"
    ]
    if divergence.smooth:
        notes.append(f"{divergence.smooth:g} was added to both shares of the model")
    if divergence.n_without:
        notes.append(f"{divergence.n_without:,} items are about no statement, and left out")
    notes += _undefined_notes({of.statement: of.undefined for of in divergence.statements})
    means = [[of.category or ALL, of.n_statements, of.value, of.by_chance] for of in divergence.figures]
    last = [
        *_undefined_notes({of.category or ALL: of.undefined for of in divergence.figures}),
        f"{facts['formula']} ({facts['source']}); no interval, as statements were chosen, not drawn",
        "by chance: about what to expect from the number of people alone, if both were the same",
    ]
    title = f"{answer}: how far {people} is from it, KL(people || model)"
    return [
        Table(f"{title}, by statement", PEOPLE_COLUMNS, rows, notes),
        Table(title, ("category", "statements", "KL", "by chance"), means, last),
    ]


def _rows_of_people(divergence: ModelDivergence) -> Iterator[dict[str, Cell]]:
    """Rows as other scores have them; those of means have no statement."""
    from fcpair.bias.scoring import BiasFigure

    name, no_ends = str(divergence.as_dict()["score"]), (None, None)
    for of in divergence.statements:
        figure = BiasFigure(name, of.category, of.value, *no_ends, of.n, 0, 0, of.undefined, "")
        yield vars(figure) | {"n_templates": None, "statement": of.statement}
    remark = "the mean over n statements"
    for mean in divergence.figures:
        counts = (mean.n_statements, 0, 0)
        figure = BiasFigure(name, mean.category or ALL, mean.value, *no_ends, *counts, mean.undefined, remark)
        yield vars(figure) | {"n_templates": None}


@click.group()
def items() -> None:
    """Questions about two groups, made from templates: expand.

    \b
    Example:
      fcpair items expand templates.toml --out items.jsonl
    """


@items.command()
@take_effect("--layout", "--seed", "--limit", only_with="--out")
@click.argument("file", type=PATH)
@shared_option("--reader", choices=TEMPLATE_READERS, detail="Our own TOML, or templates as BBQ or KoBBQ released them.")
@option("--count", is_flag=True, help="Count the items of each category, and write none.")
@shared_option("--out", type=PATH, detail="The items: a CSV, JSONL or Parquet, or a folder.")
@shared_option("--layout", choices=LAYOUTS, detail="A table, or a folder for Hugging Face or lm-evaluation-harness.")
@shared_option("--seed", type=click.IntRange(min=0), default=13, detail="It orders the options.")
@option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    default=LIMIT,
    help="Write nothing if one template makes more items than this.",
)
@sheet_option
@format_option
def expand(
    file: Path, reader: str, count: bool, out: Path | None, layout: str, seed: int, limit: int, form: str
) -> None:
    """Expand templates into items.

    Every filling of the slots makes four items: an ambiguous and a disambiguated context, each with a negative question
    and one that is not. A slot that is used twice is filled the same. `--count` multiplies, and makes no items.

    \b
    Example:
      fcpair items expand templates.toml --out items.jsonl
      fcpair items expand KoBBQ_templates.tsv --reader kobbq --count --format json
      fcpair items expand templates.toml --layout lm-eval --out task
    """
    from fcpair.bias.items import coinciding_options, n_items, n_templates
    from fcpair.bias.items import expand as expanded
    from fcpair.files.surveys.items import item_files
    from fcpair.files.surveys.templates import read_templates
    from fcpair.files.tables.folders import check_new_folder, new_folder

    if count == (out is not None):
        raise InputError("give `--out` with a file or a folder to write the items, or `--count` to count them")
    if out is not None:
        (tabular.check_suffix if layout == LAYOUTS[0] else check_new_folder)(out)
    templates, remarks = read_templates(file, reader)
    if count:
        small = (template for template in templates if n_items(template) <= limit)
        reject(file, list(coinciding_options(small, str(file))))
    if out is not None:
        expansion = expanded(templates, str(file), seed, limit)
        reject(file, list(expansion.findings))
        if layout == LAYOUTS[0]:
            tabular.write_table(expansion.frame, out)
        else:
            with new_folder(out) as folder:
                for name, content in item_files(layout, expansion.frame, str(file), seed).items():
                    (folder / name).parent.mkdir(exist_ok=True)
                    if isinstance(content, str):
                        (folder / name).write_text(content, "utf-8")
                    else:
                        tabular.write_table(content, folder / name)
        print_message(f"{out}: {len(expansion.frame):,} items")
    for remark in remarks:
        print_message(f"Note: {remark}")
    n_of, counts = n_templates(templates), Counter[str]()
    for template in templates:
        counts[template.category] += n_items(template)
    categories = {name: {"templates": n_of[name], "items": n} for name, n in counts.items()}
    rows: list[Row] = [{"category": name, **of} for name, of in categories.items()]
    totals = {"templates": n_of.total(), "items": counts.total()}
    title = f"{file}: {totals['templates']:,} templates, {totals['items']:,} items"
    data = {"place": str(file), "seed": seed, **totals, "categories": categories}
    print_rows(form, title, rows, ("category", "templates", "items"), data=data)
