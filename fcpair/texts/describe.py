"""Description of a table of texts: its figures, per group, source and label, each with what it rests on.

Keywords of a label are the words that texts with it have more often than texts without it.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from itertools import combinations
from typing import Literal

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.errors import Finding, reject
from fcpair.files.tables.tabular import read_cells
from fcpair.lazy import pd
from fcpair.stages.corpus.text_identity import identity
from fcpair.texts.aliases import split_cell
from fcpair.values import is_blank

TOKEN = r"[^\W\d_]+(?:['’\u200c][^\W\d_]+)*"  # letters; an apostrophe or a zero-width non-joiner within a word stays


@dataclass(frozen=True)
class Keyword:
    """A word, how many times it is in the texts with the label and in the others, and its z; larger is more typical."""

    word: str
    n: int
    n_others: int
    z: float


@dataclass(frozen=True)
class Keywords:
    """The words of a label, the most typical first; none where `why` says why there can be none."""

    label: str
    words: tuple[Keyword, ...]
    why: str = ""


def find_keywords(
    texts: Sequence[str], labels: Sequence[Sequence[str]], names: Sequence[str], n: int
) -> list[Keywords]:
    """The `n` most typical words of each label in `names`: those with the largest positive z.

    z is the log-odds-ratio with an informative Dirichlet prior over its standard deviation; the prior of a word is its
    count in all texts. Equations 15, 16, 20 and 22 of B. L. Monroe, M. P. Colaresi and K. M. Quinn (2008),
    Fightin' Words, Political Analysis 16(4), 372-403, DOI 10.1093/pan/mpn018. Words are runs of letters in lower case;
    equal z are in the order of the alphabet.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    if not any(sign.isalpha() for text in texts for sign in text):
        return [Keywords(name, (), "no text has a word") for name in names]
    vectorizer = CountVectorizer(token_pattern=TOKEN)
    counts = vectorizer.fit_transform(texts)
    vocabulary, results = vectorizer.get_feature_names_out(), []
    for name in names:
        has = np.fromiter((name in of_text for of_text in labels), np.bool_, len(texts))
        counts_with, counts_without = (np.asarray(counts[rows].sum(axis=0)).ravel() for rows in (has, ~has))
        why = "all texts have the same word only" if len(vocabulary) == 1 else ""
        why = why if counts_without.any() else "texts without it have no word"
        why = why if counts_with.any() else "texts with it have no word"
        if why:
            results.append(Keywords(name, (), why))
            continue
        z = log_odds_z(counts_with, counts_without)
        typical = [at for at in np.lexsort((vocabulary, -z))[:n] if z[at] > 0]
        columns = (of[typical].tolist() for of in (vocabulary, counts_with, counts_without, z))
        results.append(Keywords(name, tuple(map(Keyword, *columns))))
    return results


def log_odds_z(counts_with: Ints, counts_without: Ints) -> Floats:
    """The z of each word by its counts in two sets of texts, `(n_words,)`, their sum the prior; see `find_keywords`."""
    prior = counts_with + counts_without

    def log(counts: Ints) -> Floats:
        with_prior = counts + prior
        return np.asarray(np.log(with_prior / (with_prior.sum() - with_prior)))

    variance = 1 / (counts_with + prior) + 1 / (counts_without + prior)
    return np.asarray((log(counts_with) - log(counts_without)) / np.sqrt(variance))


Groups = tuple[str, ...]
Per = Literal["all", "group", "source", "label", "labels", "label by group"]
TEXTS, ROWS, SHARE = "texts", "rows", "share of texts"
NO_NAME = "(empty)"


def count_words(texts: pd.Series[str]) -> pd.Series[int]:
    """Count the words of each text, separated by white space; a zero-width non-joiner separates none."""
    return texts.map(lambda text: len(text.split()))


def mean(numbers: Sequence[int] | pd.Series[int]) -> Fraction | None:
    """The exact mean of whole numbers; None if there is none."""
    return Fraction(int(sum(numbers)), len(numbers)) if len(numbers) else None


def standard_deviation(numbers: Sequence[int] | pd.Series[int]) -> float | None:
    """The standard deviation, with n - 1 below; None for fewer than two numbers."""
    return statistics.stdev(map(int, numbers)) if len(numbers) > 1 else None


def round_half_up(value: Fraction | float, decimals: int = 2) -> Decimal:
    """The number as printed tables round it: a half goes up (18.955 is 18.96), where Python's `round` is even. A float
    is taken for the number that it is, a Fraction is exact.
    """
    scaled = Fraction(value) * 10**decimals + Fraction(1, 2)
    return Decimal(math.floor(scaled)).scaleb(-decimals).quantize(Decimal(1).scaleb(-decimals), ROUND_FLOOR)


def read_groups(cells: Sequence[str], lines: Sequence[int], place: str, none: str) -> list[Groups]:
    """The groups of each cell (`split_cell`), each once; `none` if there is none. Raises InputError, with its line,
    for each cell that cannot be read.
    """
    findings: list[Finding] = []
    nothing: Groups = (none,)

    def read(cell: str) -> Groups:
        return tuple(dict.fromkeys(filter(None, split_cell(cell)))) or nothing

    groups = read_cells(cells, lines, place, read, findings, nothing)
    reject(place, findings)
    return groups


@dataclass(frozen=True)
class TextColumns:
    """Names of a table's columns: of the texts, what they answer, who wrote them, and what they are counted by."""

    text: str
    row: str | None = None
    group: str | None = None
    source: str | None = None
    writer: str | None = None


@dataclass(frozen=True)
class TextLabels:
    """A column of labels: those of each line of the table, and the names in the order in which they are told; without
    names those that a text has, in alphabetical order.
    """

    column: str
    of: Sequence[Sequence[str]]
    names: Sequence[str] = ()


@dataclass(frozen=True)
class DescribedFigure:
    """A figure: its name, what it is about, its value and the number that it rests on.

    `per` says of what kind `of` is: the whole table (`of` is empty), a group, a source, a label, two labels, `A + B`,
    or a label and a group, `A x G`; of several columns of labels, the column is named before each: `types: A`. `value`
    is a whole number, an exact mean or a standard deviation; None where `why` says why. `over_groups`, of a mean over
    the whole table, is the mean of the means of its `n_groups` groups that have texts.
    """

    figure: str
    per: Per
    of: str
    value: int | Fraction | float | None
    n: int
    why: str = ""
    over_groups: Fraction | None = None
    n_groups: int = 0

    def as_dict(self) -> dict[str, str | int | float | None]:
        """As JSON and CSV have it: numbers unrounded, and `rounded` half up to two decimals, where it has decimals."""
        value = float(self.value) if isinstance(self.value, Fraction) else self.value
        has_decimals = self.value is not None and not isinstance(self.value, int)
        rounded = str(round_half_up(self.value)) if has_decimals and self.value is not None else None
        over_groups, n_groups = (None, None) if (mean := self.over_groups) is None else (float(mean), self.n_groups)
        return {
            "figure": self.figure,
            "per": self.per,
            "of": self.of,
            "value": value,
            "rounded": rounded,
            "n": self.n,
            "over_groups": over_groups,
            "n_groups": n_groups,
            "why": self.why,
        }


@dataclass(frozen=True)
class RepeatedText:
    """A text that comes more than `OFTEN` times."""

    text: str
    n: int


@dataclass(frozen=True)
class SharedRow:
    """A row that is in several groups, with the lines of its texts."""

    row: str
    groups: tuple[str, ...]
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Description:
    """Results for a table: every figure once, often repeated texts, rows in several groups, keywords of each label."""

    figures: tuple[DescribedFigure, ...]
    repeated: tuple[RepeatedText, ...] = ()
    shared: tuple[SharedRow, ...] = ()
    keywords: tuple[Keywords, ...] = ()

    def figures_per(self, *kinds: Per) -> Iterator[DescribedFigure]:
        """The figures about these kinds of things."""
        return (figure for figure in self.figures if figure.per in kinds)


@dataclass
class _TextTable:
    """A table with its counts of words; rows of it without a text are in no figure but those that are about them."""

    frame: pd.DataFrame
    lines: Sequence[int]
    columns: TextColumns
    more_than: int | None
    under: int | None
    figures: list[DescribedFigure] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.has_text = ~self.frame[self.columns.text].map(is_blank).astype(bool)
        self.texts = self.frame[self.has_text]
        self.n_words = count_words(self.texts[self.columns.text])
        row = self.columns.row
        self.n_row_words = count_words(self.texts[row]) if row else None

    def add(self, figure: str, value: int, n: int, per: Per = "all", of: str = "") -> None:
        self.figures.append(DescribedFigure(figure, per, of, value, n))


def describe(
    frame: pd.DataFrame,
    columns: TextColumns,
    *,
    lines: Sequence[int],
    labels: Sequence[TextLabels] = (),
    groups: Sequence[Groups] | None = None,
    more_than: int | None = None,
    under: int | None = None,
    n_keywords: int = 5,
) -> Description:
    """Describe a table of texts, strings, whose `columns` are named and whose rows are told of as `lines`.

    A row of the table whose text is blank is what nobody answered: it is counted, and in no figure about texts. Words
    are parted by white space; means are over texts, so that the words of a row count once for each text that answers
    it. `rows` and `distinct texts` are counted by `identity` (NFC, stripped). `labels` are columns of labels, each with
    those of every row, and `groups` those of each row by which every label is counted; texts should have
    `more_than` so many words, and be `under` a number.
    """
    table = _TextTable(frame, lines, columns, more_than, under)
    _count_all(table)
    _measure_lengths(table, table.has_text, "all", "")
    kinds: list[tuple[Per, str | None]] = [("group", columns.group), ("source", columns.source)]
    for per, column in kinds:
        for of, is_of in _column_parts(table, column):
            _measure_lengths(table, table.has_text & is_of, per, of)
    all_keywords: list[Keywords] = []
    for label_column in labels:
        labels_of_texts = [of for of, has in zip(label_column.of, table.has_text, strict=True) if has]
        names = label_column.names or sorted({label for of in labels_of_texts for label in of})
        prefix = f"{label_column.column}: " if len(labels) > 1 else ""
        n_texts, in_pairs = len(labels_of_texts), (combinations(sorted(of), 2) for of in labels_of_texts)
        table.add(f"{prefix}texts with several labels", sum(len(of) > 1 for of in labels_of_texts), n_texts)
        table.add(f"{prefix}texts without a label", sum(not of for of in labels_of_texts), n_texts)
        for name in names:
            lengths = table.n_words[np.array([name in of for of in labels_of_texts], np.bool_)]
            _add_counted(table, len(lengths), n_texts, "label", f"{prefix}{name}")
            _add_lengths(table, "words", lengths, "label", f"{prefix}{name}")
        pairs = Counter(pair for of_text in in_pairs for pair in of_text)
        for pair, n_both in sorted(pairs.items(), key=lambda item: (-item[1], item[0])):
            table.add(TEXTS, n_both, n_texts, "labels", prefix + " + ".join(pair))
        if groups is not None:
            groups_of_texts = [of for of, has in zip(groups, table.has_text, strict=True) if has]
            n_group = Counter(group for own in groups_of_texts for group in own)
            both = zip(labels_of_texts, groups_of_texts, strict=True)
            n_of = Counter((label, group) for own, of in both for label in set(own) for group in of)
            for group, n in sorted(n_group.items(), key=lambda item: (-item[1], item[0])):  # the largest first
                for label in names:
                    _add_counted(table, n_of[label, group], n, "label by group", f"{prefix}{label} x {group}")
        if n_keywords:
            listed = find_keywords(list(table.texts[columns.text]), labels_of_texts, names, n_keywords)
            all_keywords += [replace(keywords, label=f"{prefix}{keywords.label}") for keywords in listed]
    often = often_repeated(table.texts[columns.text])
    repeated = tuple(RepeatedText(str(text), int(n)) for text, n in often.items())
    return Description(tuple(table.figures), repeated, tuple(_shared_rows(table)), tuple(all_keywords))


def _column_parts(table: _TextTable, column: str | None) -> Iterator[tuple[str, pd.Series[bool]]]:
    """The values of a column in the order of the table, and where they are; none of what has neither value nor text."""
    if column:
        values = table.frame[column].str.strip()
        for value in dict.fromkeys(values[table.has_text | (values != "")]):
            yield str(value) or NO_NAME, values == value


def _count_all(table: _TextTable) -> None:
    columns, n = table.columns, len(table.texts)
    table.add(TEXTS, n, n)
    table.add("distinct texts", int(table.texts[columns.text].map(identity).nunique()), n)
    if columns.row:
        rows, answered = (frame[columns.row].map(identity) for frame in (table.frame, table.texts))
        n_rows = int(rows.nunique())
        table.add(ROWS, n_rows, len(rows))
        table.add("rows without a text", n_rows - int(answered.nunique()), n_rows)
        if columns.group:
            table.add("rows in several groups", len(list(_shared_rows(table))), n_rows)
    elif n < len(table.frame):
        table.add("lines without a text", len(table.frame) - n, len(table.frame))
    texts, by = table.texts[columns.text], columns.writer
    often = often_repeated(texts)
    table.add(f"texts repeated more than {OFTEN} times", len(often), n)
    table.add("answers with such a text", int(often.sum()), n)
    if by:
        n_by = table.texts[by].value_counts()
        table.add("writers", len(n_by), n)
        table.add("writers of more than one text", int((n_by > 1).sum()), len(n_by))
        table.add("copies of the writer's own text", int(own_copies(texts, table.texts[by]).sum()), n)
    if (most := table.more_than) is not None:
        table.add(f"texts of {most} words or fewer", int((table.n_words <= most).sum()), n)
    if (least := table.under) is not None:
        table.add(f"texts of {least} words or more", int((table.n_words >= least).sum()), n)


def _measure_lengths(table: _TextTable, is_in: pd.Series[bool], per: Per, of: str) -> None:
    if per != "all":
        table.add(TEXTS, int(is_in.sum()), int(is_in.sum()), per, of)
        if table.columns.row:
            rows = table.frame[table.columns.row][is_in].map(identity)
            table.add(ROWS, int(rows.nunique()), len(rows), per, of)
    for what, counts in {"row words": table.n_row_words, "words": table.n_words}.items():
        if counts is not None:
            parts = _column_parts(table, table.columns.group) if per == "all" else ()
            means = [mean(counts[is_of[counts.index]]) for _, is_of in parts]  # of the groups that have texts
            _add_lengths(
                table, what, counts[is_in[counts.index]], per, of, [mean for mean in means if mean is not None]
            )


def _add_lengths(
    table: _TextTable, what: str, counts: pd.Series[int], per: Per, of: str, means: Sequence[Fraction] = ()
) -> None:
    n, over = len(counts), sum(means, Fraction()) / len(means) if means else None
    why = "" if n else "no text"
    no_sd = "" if n > 1 else why or "only one text"
    table.figures.append(DescribedFigure(f"mean {what}", per, of, mean(counts), n, why, over, len(means)))
    table.figures.append(DescribedFigure(f"sd {what}", per, of, standard_deviation(counts), n, no_sd))


def _add_counted(table: _TextTable, part: int, whole: int, per: Per, of: str) -> None:
    table.add(TEXTS, part, whole, per, of)
    share = Fraction(part, whole) if whole else None
    table.figures.append(DescribedFigure(SHARE, per, of, share, whole, "" if whole else "no text"))


def _shared_rows(table: _TextTable) -> Iterator[SharedRow]:
    row, group = table.columns.row, table.columns.group
    if not row or not group:
        return
    rows = table.frame[row].map(identity)
    n_groups = table.frame[group].groupby(rows, sort=False).transform("nunique")
    for name, of_row in table.frame[n_groups > 1].groupby(rows, sort=False):
        groups = tuple(dict.fromkeys(str(value).strip() or NO_NAME for value in of_row[group]))
        places = table.frame.index.get_indexer(of_row.index).tolist()
        yield SharedRow(str(name), groups, tuple(int(table.lines[at]) for at in places))


OFTEN = 10  # a text that comes more than so many times: CrowdCounter's check looked at these


def often_repeated(texts: pd.Series[str]) -> pd.Series[int]:
    """Count each text that comes more than `OFTEN` times, the most frequent first."""
    counts = texts.map(identity).value_counts(sort=False)
    often = counts[counts > OFTEN]
    return often.iloc[sorted(range(len(often)), key=lambda at: (-int(often.iloc[at]), str(often.index[at])))]


def own_copies(texts: pd.Series[str], by: pd.Series[str]) -> pd.Series[bool]:
    """Mask of texts that their writer had given before, earlier in the table."""
    return pd.DataFrame({"by": by, "text": texts.map(identity)}).duplicated()
