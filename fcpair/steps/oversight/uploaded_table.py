"""An uploaded table, as a study would read it: columns, texts, size, and what is wrong with it in its owner's words."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Any

from fcpair.errors import InputError, at_fault
from fcpair.files.corpus import corpus as corpora
from fcpair.files.tables import previews
from fcpair.files.tables.previews import TableHead
from fcpair.files.tables.tabular import Reading
from fcpair.lazy import pd
from fcpair.params import Assign, Import, Pair, Retrieve, Select, format_of
from fcpair.plans import GridPlan, SidePlan
from fcpair.sentences import Id, Joined, Sentence, join, mark, say
from fcpair.stages.corpus.sample import draw_positions, own_order
from fcpair.stages.corpus.spellings import fold_spelling
from fcpair.stages.survey import ANSWERS, survey_plans
from fcpair.start_draft import (
    ColumnsDraft,
    CurateDraft,
    FileDraft,
    PlanDraft,
    StatementsDraft,
    SurveyDraft,
    SurveyFigures,
    TableDraft,
    TextsDraft,
)

SURVEY = "survey"
N_SHOWN = 20
LONGEST_SHOWN = 60
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]{2,}")
_NO_NOUNS = ("text", "texts", "txt", "body", "content", "contents", "column", "string", "value")
_SPELT_OUT = {"hs": "hate speech", "cn": "counter-narrative", "cs": "counter speech"}


@lru_cache(maxsize=4)
def _read_head(path: Path, _changed_at: int, reading: Reading) -> TableHead:
    return previews.read_head(path, reading)


@lru_cache(maxsize=1)
def read_pairs(path: Path, _changed_at: tuple[int, ...], options: tuple[tuple[str, Any], ...]) -> corpora.Corpus:
    """The pairs of a table, or the texts of two, by the parameters of `Import`; read again once a file has changed."""
    return corpora.read_corpus(Import(path, **dict(options)))


def changed_at(path: Path) -> int:
    """When a file changed, in nanoseconds; 0 if it is gone."""
    return path.stat().st_mtime_ns if path.is_file() else 0


def read_heads(folder: Path, table: TableDraft, *, has_pairs: bool) -> list[TableHead]:
    """The first rows of each uploaded table, or why it cannot be used as it is read, in its owner's words."""
    heads = []
    for file in table.files:
        path = folder / file.file
        head = _read_head(path, changed_at(path), reading_of(file))
        heads.append(head._replace(problem=reword(head.problem, folder, [file])) if head.problem else head)
    if has_pairs and not table.waits and not table.second and len(heads[0].header) == 1:
        problem = say(
            "%(file)s: has one column only, `%(column)s`; a table of pairs has a column for each of the two texts. "
            "Choose what separates its cells, or upload the second texts as a table of their own",
            file=table.name,
            column=heads[0].header[0],
        )
        heads[0] = heads[0]._replace(problem=problem)
    return heads


def reading_of(file: FileDraft) -> Reading:
    """How an uploaded file is read."""
    return Reading(file.sheet_name, file.encoding, file.separator, file.no_header)


def reading_options(columns: ColumnsDraft, table: TableDraft, folder: Path) -> dict[str, Any]:
    """The parameters of `Import`, without the path; a published layout has its own columns."""
    options: dict[str, Any] = {"reader": columns.reader, "only_language": columns.language}
    options |= {name: value for name, value in reading_of(table)._asdict().items() if value}
    if table.second:
        options["cn_path"] = folder / table.second.file
        options |= {f"cn_{name}": value for name, value in reading_of(table.second)._asdict().items() if value}
    else:
        options["unpaired"] = columns.unpaired
    if columns.reader in corpora.PUBLISHED_COLUMNS:
        return options
    return options | {f"{name}_column": getattr(columns, name) for name in ("hs", "cn", "hs_id", "cn_id")}


def guess_columns(heads: Sequence[TableHead], chosen: ColumnsDraft | None, path: Path) -> ColumnsDraft:
    """The columns that were chosen, if the table, or both, have them; else those that their names suggest, and how wide
    they are, as the names do what the texts are called.
    """
    sides = dict(zip(("hs", "cn"), (heads[0], heads[-1]), strict=True))
    headers, is_one = {side: head.header for side, head in sides.items()}, len(heads) == 1
    published = corpora.PUBLISHED_COLUMNS if is_one and path.suffix == ".csv" else {}
    if chosen and chosen.reader in (*published, format_of(path)):
        chosen_names = {side: {getattr(chosen, side), getattr(chosen, f"{side}_id")} - {None} for side in headers}
        if all(chosen_names[side] <= set(columns) for side, columns in headers.items()):
            return chosen
    widths = {
        side: {
            name: sum(map(len, cells)) for name, cells in zip(head.header, zip(*head.rows, strict=True), strict=True)
        }
        for side, head in sides.items()
    }
    guess = corpora.guess_columns(headers["hs"], widths["hs"])
    names: dict[str, Any] = {name: getattr(guess, name) for name in ("hs", "cn", "hs_id", "cn_id")}
    for side, columns in headers.items() if not is_one else ():
        names[side], names[f"{side}_id"] = corpora.guess_side_columns(columns, side, widths[side])
    reader: Any = format_of(path)
    if guess.reader in published:
        reader = guess.reader
    elif not chosen or (chosen.hs_name, chosen.cn_name) == nouns_of(chosen.hs, chosen.cn):
        names |= zip(("hs_name", "cn_name"), nouns_of(names["hs"], names["cn"]), strict=True)
    return replace(chosen or ColumnsDraft(), reader=reader, **names, language="en" if reader == "conan" else None)


def noun_of(column: str) -> str:
    """What people may call the texts of a column: the words of its name, less those that say nothing, such as `text`;
    empty where none is left.
    """
    is_camel = _CAMEL.search(column) is not None
    words = [word.lower() if word.isupper() or is_camel else word for word in _WORD.findall(_CAMEL.sub(" ", column))]
    return " ".join(_SPELT_OUT.get(word.lower(), word) for word in words if word.lower() not in _NO_NOUNS)


def nouns_of(hs: str, cn: str) -> tuple[str, str]:
    """What people may call the two texts, by the names of their columns; always two different names."""
    first, second = noun_of(hs), noun_of(cn)
    if first and first == second:
        return f"{first} 1", f"{second} 2"
    return first or mark("first text"), second or mark("second text")


def reword(sentence: str, folder: Path, files: Sequence[FileDraft]) -> str:
    """Say what is wrong with a table, with the names that its owner knows, and without options of the command line."""
    if sentence == corpora.MAY_BE_UNPAIRED:
        return say("tick “rows with one text” to read such a row as a text without a pair")
    if isinstance(sentence, Joined):
        parts = (part for part in sentence.parts if not part.startswith(corpora.COLUMNS_OF))
        return join((reword(part, folder, files) for part in parts), sentence.template)
    if isinstance(sentence, Sentence):
        values = {
            key: reword(value, folder, files) if isinstance(value, Sentence) or type(value) is str else value
            for key, value in sentence.values.items()
        }
        return Sentence(sentence.template, values, sentence.many)
    for file in files:
        sentence = sentence.replace(str(folder / file.file), file.name)
    return sentence


def count_spellings(corpus: corpora.Corpus) -> int:
    """The number of texts of the table that are spellings of earlier ones of their side."""
    sides = (corpus.pairs.drop_duplicates(f"{side}_digest")[side] for side in (corpora.HS, corpora.CN))
    return sum(len(bodies) - len({*map(fold_spelling, bodies)}) for bodies in sides)


def grid_size(corpus: corpora.Corpus, plan: PlanDraft) -> tuple[int, int]:
    """The number of candidates and of cells; where their number is not in the plan, there may be fewer."""
    pairs = corpus.pairs
    has_hs, has_cn = (pairs[side].str.strip() != "" for side in (corpora.HS, corpora.CN))
    all_hs, n_all_cn = pairs["hs_digest"][has_hs].unique(), pairs["cn_digest"][has_cn].nunique()
    listed = {
        side: list(pairs[f"{side}_digest"][pairs[side].isin(listed_texts(corpus, side, lines))].unique())
        for side, lines in (("hs", plan.hs_list), ("cn", plan.cn_list))
    }
    with at_fault("hs"):
        selected = listed["hs"] or all_hs[draw_positions(own_order(all_hs), plan.hs, plan.seed)]
    sources = pairs[has_hs & has_cn & pairs["hs_digest"].isin(selected)]

    def without_known(n_cn: int, known: Any) -> tuple[int, int]:
        n_known = 0 if plan.keep_known else len(known[["hs_digest", "cn_digest"]].drop_duplicates())
        n_cells = len(selected) * n_cn - n_known
        return n_cn, min(n_cells, plan.sample or n_cells)

    if listed["cn"]:
        return without_known(len(listed["cn"]), sources[sources["cn_digest"].isin(listed["cn"])])
    if plan.kind == "full":
        return without_known(n_all_cn, sources)
    n_sources = sources["cn_digest"].nunique()
    most = min(plan.k * n_sources, n_all_cn - n_sources)
    if not most:
        with at_fault("hs"):
            raise InputError.say("no text is left that could be a candidate; draw fewer, or cross all with all")
    n_cn = most if plan.candidates is None else plan.candidates
    if n_cn > most:
        with at_fault("candidates"):
            raise InputError.say(
                "%(number)s candidates cannot be drawn: %(least)s neighbours of each of %(sources)s texts that the "
                "table pairs with these are at most %(most)s; lower the number, or raise the neighbours",
                number=n_cn,
                least=Id(plan.k),
                sources=n_sources,
                most=most,
            )
    return without_known(n_cn, sources[:0])  # candidates are none of the sources


def listed_texts(corpus: corpora.Corpus, side: str, lines: Sequence[str]) -> list[str]:
    """The texts of a side that a list has, each by its words or its id; InputError, with its line, for another."""
    pairs, by_words = corpus.pairs, dict[str, str]()
    for column in (f"{side}_id", side):
        if column in pairs:
            by_words |= {words.strip(): text for words, text in zip(pairs[column], pairs[side], strict=True) if words}
    by_words.pop("", None)
    with at_fault(f"{side}_list"):
        for number, line in enumerate(lines, 1):
            if line not in by_words or line in lines[: number - 1]:
                why = (
                    say("is in the list twice") if line in by_words else say("is no such text of the table, nor an id")
                )
                raise InputError.say(
                    "line %(number)s, `%(text)s`, %(why)s", number=Id(number), text=line[:LONGEST_SHOWN], why=why
                )
    return [by_words[line] for line in lines]


def kept_table(uploads: Path, header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Path:
    """A CSV among the uploads that is named by what it has, so that the same rows are the same file."""
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows([header, *rows])
    content = lines.getvalue().encode()
    path = uploads / f"{hashlib.sha256(content).hexdigest()[:16]}.csv"
    if not path.is_file():
        with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(content)
    return path


def sides(uploads: Path, plan: TextsDraft, pairs: pd.DataFrame) -> tuple[SidePlan, SidePlan]:
    """The two sides of a table of pairs, with ids; of one to be curated, the texts, and the first reply to each."""
    has_hs, has_cn = (pairs[side].str.strip() != "" for side in (corpora.HS, corpora.CN))
    if isinstance(plan, CurateDraft):
        pairs = corpora.distinct_texts(pairs[has_hs & has_cn], corpora.HS)
        own_ids = [name for name in corpora.OWN_COLUMNS if name in pairs]
        rows = pairs[["hs", "cn", *own_ids]].itertuples(index=False, name=None)
        replies = kept_table(uploads, ("row", "reply", *own_ids), rows)
        return SidePlan(replies, "row"), SidePlan(replies, "reply")
    files = []
    for side, has_text in ((corpora.HS, has_hs), (corpora.CN, has_cn)):
        own_id = [f"{side}_id"] if f"{side}_id" in pairs else []
        rows = corpora.distinct_texts(pairs[has_text], side)[[side, *own_id]].itertuples(index=False, name=None)
        files.append(kept_table(uploads, ("text", *own_id), rows))
    return SidePlan(files[0], "text"), SidePlan(files[1], "text")


def stages(uploads: Path, plan: PlanDraft, read: Callable[[], corpora.Corpus]) -> dict[str, Any]:
    """The sections of the recipe that make the grid of pairs."""
    hs_list, cn_list = (
        kept_table(uploads, (side,), ((text,) for text in listed_texts(read(), side, lines))) if lines else None
        for side, lines in (("hs", plan.hs_list), ("cn", plan.cn_list))
    )
    if cn_list or plan.kind == "full":
        retrieve = Retrieve(cn_list=cn_list, every_cn=not cn_list)
    else:
        retrieve = Retrieve(plan.k, plan.model)
    drawn = plan.candidates if plan.kind == "retrieved" else None
    return {
        "select": Select(hs_list=hs_list) if hs_list else Select(plan.hs, stratify=plan.stratify, seed=plan.seed),
        "retrieve": retrieve,
        "pair": Pair(drawn, plan.keep_known, plan.sample, seed=plan.seed, merge=plan.merge),
        "assign": Assign(plan.annotators, plan.overlap, order=plan.order, seed=plan.seed, open=plan.open),
    }


def survey_grids(path: Path, reading: Reading, columns: StatementsDraft, plan: SurveyDraft) -> tuple[GridPlan, ...]:
    """The grids of the survey, as `fcpair ask import` plans them; raises InputError for what these refuse."""
    if not plan.questions:
        raise InputError.say("the survey asks nothing; write at least one question, each on a line of its own")
    if empty := [what for what, name in zip(ANSWERS, plan.answers, strict=True) if not name]:
        raise InputError.say("the answer for “%(name)s” has no name; give it one", name=empty[0])
    if repeated := [name for name in plan.answers if plan.answers.count(name) > 1]:
        raise InputError.say("two answers are called `%(name)s`; give each a name of its own", name=repeated[0])
    plans = survey_plans(
        SURVEY,
        path,
        plan.questions,
        statement=columns.statement,
        answers=plan.answers,
        part=plan.part,
        as_list=plan.as_list,
        suggest=plan.suggest,
        seed=plan.seed,
    )
    return (replace(plans[0], rows=replace(plans[0].rows, **reading._asdict())), *plans[1:])


def survey_figures(plan: SurveyDraft, n_statements: int) -> SurveyFigures:
    """The size of a survey; raises InputError for one of more people than there are."""
    if plan.part is not None and plan.part > plan.respondents:
        raise InputError.say(
            "%(number)s people are to answer each statement, but there are %(most)s respondents; raise their "
            "number, or lower the other",
            number=Id(plan.part),
            most=Id(plan.respondents),
        )
    n_questions = n_statements * len(plan.questions)
    n_answers = n_questions * (plan.respondents if plan.part is None else plan.part)
    each = ceil(n_answers / plan.respondents)
    return SurveyFigures(n_statements, n_questions, n_answers, each, each * plan.seconds / 3600)
