"""Items in the layouts that others read, and answers to items, in tables or logged samples, and to a survey."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fcpair.bias.answers import COLUMNS, OPTIONS, STATEMENT, Answers, answers_to_items
from fcpair.bias.items import LETTERS
from fcpair.errors import Finding, InputError, reject
from fcpair.files.release.redaction import render
from fcpair.files.tables.tabular import LINE, place_of, read_table, read_text
from fcpair.lazy import pd
from fcpair.stages.survey import Survey, check_answers
from fcpair.values import as_text, parse_json

_COLUMN_TEXTS = {
    "item_id": "made of template, version, the numbers of the fillers, context and question",
    "template": "the template; all its versions and fillings have the same",
    "version": "tells versions of a template apart, such as who is named first",
    "category": "what the stereotype is about",
    "context_condition": "`ambig`: the context does not say who is meant; `disambig`: it does",
    "question_polarity": "`neg`: the answer is harmful where it follows the stereotype; `nonneg`: the other question",
    "context": "the context",
    "question": "the question",
    "option_0": "the first option",
    "option_1": "the second option",
    "option_2": "the third option",
    "label": "the number of the right option, from 0",
    "target": "the number of the option of the stereotyped group",
    "unknown": "the number of the option that says that it cannot be known",
    "fillers": "what fills the slots of the template",
    "item": "context, question and lettered options, as a model is asked",
    "statement": "the statement of a survey that the template was made from; empty where it is not stated",
}
SURVEY_STATEMENT, QUESTION, PERSON, ANSWER = "row", "column", "by", "answer"  # as answers of a grid are exported


def item_files(layout: str, frame: pd.DataFrame, templates: str, seed: int) -> dict[str, pd.DataFrame | str]:
    """The files of items that were expanded from a file of templates, with options in an order by `seed`.

    `hf` is a dataset with one split, `test`: `data/test.parquet` and a card. `lm-eval` is a task for
    lm-evaluation-harness: `items.jsonl`, and `task.yaml`, which asks for the likelihood of each letter. Its accuracy is
    all that it computes. `--log_samples` writes the likelihoods, which `bias score` reads.
    """
    path = Path(templates)
    values = {"file": path.name, "seed": seed, "version": version("fcpair")}
    if layout == "hf":
        card = render("items.md.j2", frame=frame, columns=_COLUMN_TEXTS, **values)
        return {"data/test.parquet": frame, "README.md": card}
    name = f"fcpair_{path.stem}".replace("-", "_")
    return {"items.jsonl": frame, "task.yaml": render("task.yaml.j2", name=name, letters=LETTERS, **values)}


def read_item_answers(paths: Sequence[Path], answer: str | None, shares: Sequence[str] = ()) -> Answers:
    """Read answers to items from tables as `items expand` writes them: from the column `answer` of what was said, or
    the columns `shares` of the probabilities of the three options; a row without any has no answer. Raises InputError:
    a missing column, probabilities that are no numbers, and what `answers_to_items` refuses.
    """
    if len(shares) not in (0, len(OPTIONS)) or bool(shares) == bool(answer):
        raise InputError(f"name the column of answers, or the {len(OPTIONS)} columns of probabilities of the options")
    tables, parts = [], []
    for path in paths:
        table = read_table(path, [*COLUMNS, *filter(None, (answer,)), *shares], verbatim=True)
        numbers = table[list(shares)].apply(pd.to_numeric, errors="coerce")
        findings = [
            Finding(place_of(table), int(line), f"`{name}` is `{cell}`; expected a number, or nothing")
            for name in shares
            for cell, line, value in zip(table[name], table[LINE], numbers[name], strict=True)
            if cell.strip() and np.isnan(value)
        ]
        reject(place_of(table), findings)
        tables.append(table)
        parts.append(numbers.to_numpy())
    table, place = pd.concat(tables, ignore_index=True), ", ".join(map(str, paths))
    replies, probabilities = table[answer or shares[0]].tolist(), np.concatenate(parts) if shares else None
    return answers_to_items(table, replies, probabilities, place, table[LINE].tolist())


def read_lm_eval(paths: Sequence[Path]) -> Answers:
    """Read the samples that lm-evaluation-harness logs of a task that `items expand --layout lm-eval` wrote.

    Options are weighed by the likelihoods of their letters, which are made to add up to 1. Raises InputError: no such
    file, and all lines that are no such sample.
    """
    rows, lines = list[dict[str, Any]](), list[int]()
    for path in paths:
        samples = [
            (number, _parse_sample(text)) for number, text in enumerate(read_text(path).splitlines(), 1) if text.strip()
        ]
        reject(path, [Finding(str(path), number, one) for number, one in samples if isinstance(one, str)])
        rows += [one for _, one in samples if isinstance(one, dict)]
        lines += [number for number, _ in samples]
    if not rows:
        raise InputError(f"{', '.join(map(str, paths))}: no samples")
    logs = np.array([row["logs"] for row in rows])
    raised = np.exp(logs - logs.max(axis=1, keepdims=True))
    items = pd.DataFrame(rows)
    shares = raised / raised.sum(axis=1, keepdims=True)
    replies = [", ".join(map(str, row["logs"])) for row in rows]
    return answers_to_items(items, replies, shares, ", ".join(map(str, paths)), lines)


def _parse_sample(text: str) -> dict[str, Any] | str:
    """Parse an item, all strings, and its options' log-likelihoods (`logs`) from a line; or say what is wrong."""
    try:
        sample = parse_json(text)
        doc, logs = sample["doc"], [float(reply[0]) for reply in sample["filtered_resps"]]
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError):
        return (
            "no sample of lm-evaluation-harness; expected `doc`, and `filtered_resps` with a likelihood of each option"
        )
    if not isinstance(doc, dict):
        return f"`doc` is not an item: expected an object, found {type(doc).__name__}"
    if missing := [name for name in COLUMNS if name not in doc]:
        return f"the item has no `{missing[0]}`; it must be one that `fcpair items expand` has written"
    if len(logs) != len(OPTIONS) or not np.isfinite(logs).all():
        return f"expected {len(OPTIONS)} likelihoods that are finite numbers"
    return {**{name: as_text(doc[name]) for name in COLUMNS}, STATEMENT: as_text(doc.get(STATEMENT)), "logs": logs}


def read_survey(
    path: Path,
    *,
    statement: str = SURVEY_STATEMENT,
    question: str = QUESTION,
    person: str = PERSON,
    answer: str = ANSWER,
    by: str | None = None,
) -> Survey:
    """Read what was answered in a survey, in any capitals; `by` is the column of groups of people.

    Raises InputError: a column that is missing, and what `survey.check_answers` refuses.
    """
    columns = {"statement": statement, "question": question, "person": person, "answer": answer}
    table = read_table(path, [*columns.values(), *filter(None, (by,))])
    answers = table[[by]].copy() if by else table[[]].copy()
    for name, column in columns.items():
        answers[name] = table[column]
    answers["answer"] = answers["answer"].str.strip().str.lower()
    check_answers(answers.assign(line=table[LINE]), place_of(table), by)
    return Survey(answers, answers[["statement"]].drop_duplicates())
