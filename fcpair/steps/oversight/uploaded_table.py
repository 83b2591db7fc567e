"""An uploaded table, as a study would read it: columns, texts, size, and what is wrong with it in its owner's words."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from fcpair.errors import InputError
from fcpair.files.corpus import corpus as corpora
from fcpair.files.tables.tabular import LINE, read_table
from fcpair.plans import GridPlan
from fcpair.sentences import Id, Joined, Sentence, join, say
from fcpair.stages.corpus.sample import draw_positions, own_order
from fcpair.stages.survey import ANSWERS, survey_plans
from fcpair.start_draft import ColumnsDraft, PlanDraft, StatementsDraft, SurveyDraft

SURVEY = "survey"


@lru_cache(maxsize=1)
def read_columns(path: Path, _mtime: int) -> list[str]:
    """The columns of a table."""
    return [column for column in read_table(path, verbatim=True).columns if column != LINE]


@lru_cache(maxsize=1)
def read_pairs(path: Path, _mtime: int, options: tuple[tuple[str, Any], ...]) -> corpora.Corpus:
    """The pairs of a table, by the parameters of `Import`."""
    return corpora.read_corpus(path, **dict(options))


def reading_options(columns: ColumnsDraft) -> dict[str, Any]:
    """The parameters of `Import`, without the path; a published layout has its own columns."""
    options = {"reader": columns.reader, "only_language": columns.language, "unpaired": columns.unpaired}
    if columns.reader in corpora.PUBLISHED_COLUMNS:
        return options
    return options | {f"{name}_column": getattr(columns, name) for name in ("hs", "cn", "hs_id", "cn_id")}


def reword(sentence: str, path: Path, name: str) -> str:
    """Say what is wrong with a table, with the name that its owner knows, and without options of the command line."""
    if sentence == corpora.MAY_BE_UNPAIRED:
        return say("tick “rows with one text” to read such a row as a text without a pair")
    if isinstance(sentence, Joined):
        parts = (part for part in sentence.parts if not part.startswith(corpora.COLUMNS_OF))
        return join((reword(part, path, name) for part in parts), sentence.template)
    if isinstance(sentence, Sentence):
        values = {
            key: reword(value, path, name) if isinstance(value, Sentence) or type(value) is str else value
            for key, value in sentence.values.items()
        }
        return Sentence(sentence.template, values, sentence.many)
    return sentence.replace(str(path), name)


def grid_size(corpus: corpora.Corpus, plan: PlanDraft) -> tuple[int, int]:
    """The number of candidates and of cells; where their number is not in the plan, there may be fewer."""
    pairs = corpus.pairs
    has_hs, has_cn = (pairs[side].str.strip() != "" for side in (corpora.HS, corpora.CN))
    all_hs, n_all_cn = pairs["hs_digest"][has_hs].unique(), pairs["cn_digest"][has_cn].nunique()
    selected = all_hs[draw_positions(own_order(all_hs), plan.hs, plan.seed, "HS")]
    sources = pairs[has_hs & has_cn & pairs["hs_digest"].isin(selected)]
    if plan.kind == "full":
        return n_all_cn, plan.hs * n_all_cn - len(sources[["hs_digest", "cn_digest"]].drop_duplicates())
    n_sources = sources["cn_digest"].nunique()
    most = min(plan.k * n_sources, n_all_cn - n_sources)
    if not most:
        raise InputError.say(
            "the other HS have no CN that could be a candidate; select fewer HS, or cross all with all"
        )
    n_cn = most if plan.candidates is None else plan.candidates
    if n_cn > most:
        raise InputError.say(
            "%(number)s candidates cannot be drawn: %(least)s neighbours of each of %(sources)s source CNs are at most "
            "%(most)s; lower the number, or raise the neighbours",
            number=n_cn,
            least=Id(plan.k),
            sources=n_sources,
            most=most,
        )
    return n_cn, plan.hs * n_cn


def survey_grids(path: Path, columns: StatementsDraft, plan: SurveyDraft) -> tuple[GridPlan, ...]:
    """The grids of the survey, as `fcpair ask import` plans them; raises InputError for what these refuse."""
    if not plan.questions:
        raise InputError.say("the survey asks nothing; write at least one question, each on a line of its own")
    if empty := [what for what, name in zip(ANSWERS, plan.answers, strict=True) if not name]:
        raise InputError.say("the answer for “%(name)s” has no name; give it one", name=empty[0])
    if repeated := [name for name in plan.answers if plan.answers.count(name) > 1]:
        raise InputError.say("two answers are called `%(name)s`; give each a name of its own", name=repeated[0])
    return survey_plans(
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
