"""An uploaded table, as a study would read it: its columns, its texts, and the size of a study that is made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

from fcpair.errors import InputError
from fcpair.files.corpus import corpus as corpora
from fcpair.files.tables.tabular import LINE, READERS, read_table
from fcpair.params import FORMAT_BY_SUFFIX, format_of
from fcpair.sentences import Id, Joined, Sentence, join, say
from fcpair.stages.assignment.assign import check_overlap, overlap_counts
from fcpair.stages.corpus.retrieve import even_shares
from fcpair.stages.corpus.sample import draw_positions, own_order
from fcpair.start_draft import ColumnsDraft, PlanDraft, PlanFigures, TablePreview

N_SHOWN = 20
USUAL_HS = 45  # as FC-CONAN has
HOUR_S = 3600
Made = TypeVar("Made")


def check_suffix(name: str) -> str:
    """The suffix of a file that can be a table; raises InputError for any other."""
    suffix = Path(name).suffix.lower()
    if suffix not in FORMAT_BY_SUFFIX:
        raise InputError.say(
            "`%(name)s` is not a table that can be read; choose a file that ends in %(suffixes)s",
            name=name,
            suffixes=tuple(READERS),
        )
    return suffix


def read_header(path: Path, name: str, least: int = 2) -> list[str]:
    """The columns of a table; raises InputError, which calls it by its own name, for what is none, or has too few."""
    header = _read(_read_columns, path, name)
    if len(header) < least:
        raise InputError.say(
            "%(file)s: has one column only, `%(column)s`; a table of pairs has a column for each of the two texts. A "
            "CSV must be separated by commas",
            file=name,
            column=header[0],
        )
    return header


@lru_cache(maxsize=1)
def _read_columns(path: Path, _mtime: int) -> list[str]:
    return [column for column in read_table(path, verbatim=True).columns if column != LINE]


@lru_cache(maxsize=1)
def _read_pairs(path: Path, _mtime: int, options: tuple[tuple[str, Any], ...]) -> corpora.Corpus:
    return corpora.read_corpus(path, **dict(options))


def _read(read: Callable[..., Made], path: Path, name: str, *options: Any) -> Made:
    """Read a table, again only once it has changed; raises InputError that calls the table by its name."""
    try:
        return read(path, path.stat().st_mtime_ns if path.is_file() else 0, *options)
    except InputError as error:
        raise InputError(reword(str(error), path, name)) from None


def choose_columns(path: Path, name: str, chosen: ColumnsDraft | None) -> ColumnsDraft:
    """The columns that were chosen before, if the table has them all; else those that the names suggest."""
    header = read_header(path, name)
    has_columns = chosen and {chosen.hs, chosen.cn, *filter(None, (chosen.hs_id, chosen.cn_id))} <= set(header)
    if chosen and has_columns and chosen.reader in (*corpora.PUBLISHED_COLUMNS, format_of(path)):
        return chosen
    guess = corpora.guess_columns(header)
    is_published = guess.reader in corpora.PUBLISHED_COLUMNS and path.suffix == ".csv"
    reader: Any = guess.reader if is_published else format_of(path)
    names = {name: getattr(guess, name) for name in ("hs", "cn", "hs_id", "cn_id")}
    return replace(chosen or ColumnsDraft(), reader=reader, **names, language="en" if reader == "conan" else None)


def reading_options(columns: ColumnsDraft) -> dict[str, Any]:
    """The parameters of `Import`, without the path; a published layout has its own columns."""
    options = {"reader": columns.reader, "only_language": columns.language, "unpaired": columns.unpaired}
    if columns.reader in corpora.PUBLISHED_COLUMNS:
        return options
    return options | {f"{name}_column": getattr(columns, name) for name in ("hs", "cn", "hs_id", "cn_id")}


def preview(path: Path, name: str, columns: ColumnsDraft) -> TablePreview:
    """The table as the study would read it, or why it cannot."""
    try:
        corpus = _read_corpus(path, name, columns)
    except InputError as error:
        return TablePreview(problem=str(error))
    pairs = corpus.pairs
    has_hs, has_cn = (pairs[side].str.strip() != "" for side in (corpora.HS, corpora.CN))
    n_hs, n_cn = pairs["hs_digest"][has_hs].nunique(), pairs["cn_digest"][has_cn].nunique()
    shown = pairs[has_hs & has_cn].head(N_SHOWN)
    rows = tuple(zip(shown["hs"], shown["cn"], strict=True))
    return TablePreview(len(pairs), n_hs, n_cn, rows, tuple(corpus.metadata))


def _read_corpus(path: Path, name: str, columns: ColumnsDraft) -> corpora.Corpus:
    return _read(_read_pairs, path, name, tuple(reading_options(columns).items()))


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


def plan_figures(path: Path, name: str, columns: ColumnsDraft, plan: PlanDraft) -> PlanFigures:
    """The size of a study that is made of the table by a plan; raises InputError for one that cannot be carried out."""
    n_cn, n_cells = _grid_size(_read_corpus(path, name, columns), plan)
    if not n_cells:
        raise InputError.say(
            "no pair is left to be labelled: the table has them all; choose more HS or other candidates"
        )
    by_labels = overlap_counts(n_cells, plan.overlap)
    check_overlap(plan.annotators, by_labels)
    n_labels = sum(n * n_pairs for n, n_pairs in by_labels.items())
    labels_each = ceil(n_labels / plan.annotators)
    verdicts_each = ceil(n_cells / plan.validators) if plan.validators else 0
    return PlanFigures(
        plan.hs,
        n_cn,
        n_cells,
        plan.kind != "full" and plan.candidates is None,
        {n: n_pairs for n, n_pairs in by_labels.items() if n_pairs},
        n_labels,
        labels_each,
        labels_each * plan.seconds / HOUR_S,
        verdicts_each,
        verdicts_each * plan.seconds / HOUR_S,
        even_shares(n_cells),
    )


def _grid_size(corpus: corpora.Corpus, plan: PlanDraft) -> tuple[int, int]:
    """The number of candidates and of cells; where their number is not in the plan, there may be fewer."""
    pairs = corpus.pairs
    has_hs, has_cn = (pairs[side].str.strip() != "" for side in (corpora.HS, corpora.CN))
    all_hs, n_all_cn = pairs["hs_digest"][has_hs].unique(), pairs["cn_digest"][has_cn].nunique()
    selected = all_hs[draw_positions(own_order(all_hs), plan.hs, plan.seed, "HS")]
    sources = pairs[has_hs & has_cn & pairs["hs_digest"].isin(selected)]
    if plan.kind == "full":
        n_known = len(sources[["hs_digest", "cn_digest"]].drop_duplicates())
        return n_all_cn, plan.hs * n_all_cn - n_known
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
