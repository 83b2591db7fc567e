"""The answers to a survey as a table: one row for each statement, question and respondent."""

from __future__ import annotations

from pathlib import Path

from fcpair.files.tables.tabular import LINE, place_of, read_table
from fcpair.stages.surveys.survey import Survey, check_answers

STATEMENT, QUESTION, PERSON, ANSWER = "row", "column", "by", "answer"  # as answers of a grid are exported


def read_survey(
    path: Path,
    *,
    statement: str = STATEMENT,
    question: str = QUESTION,
    person: str = PERSON,
    answer: str = ANSWER,
    by: str | None = None,
) -> Survey:
    """Read what was answered in a survey; the columns are named as in the file, `by` one of groups of people.

    Answers are read in any capitals, as `answers import` reads them.

    Raises:
        InputError: a column that is missing, and what `survey.check_answers` refuses.
    """
    columns = {"statement": statement, "question": question, "person": person, "answer": answer}
    table = read_table(path, [*columns.values(), *filter(None, (by,))])
    answers = table[[by]].copy() if by else table[[]].copy()
    for name, column in columns.items():
        answers[name] = table[column]
    answers["answer"] = answers["answer"].str.strip().str.lower()
    check_answers(answers.assign(line=table[LINE]), place_of(table), by)
    return Survey(answers, answers[["statement"]].drop_duplicates())
