"""Rankings of the texts of each row from comparisons: scores after Bradley and Terry (1952), and how far people agree.

A best-worst answer says that the best is better than each other text shown, and each other better than the worst
(Louviere and Woodworth's best-worst scaling). Such implied pairs of one answer are not independent, which intervals
respect. Scores are estimated by choix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.errors import InputError
from fcpair.lazy import pd, scipy
from fcpair.notebook import Plotted, column_names
from fcpair.param_values import as_params
from fcpair.params import Agree, Rank
from fcpair.records import Figure
from fcpair.sentences import Written, mark, say
from fcpair.stages.corpus.comparisons import LETTERS
from fcpair.stages.questions import Form, OneOf
from fcpair.stages.questions.base import Choice
from fcpair.stages.questions.form import Answer
from fcpair.stages.stats.agreement import Agreement, compute_agreement
from fcpair.stages.stats.intervals import t_quantile
from fcpair.stages.stats.jackknife_intervals import Sides

TIED = 2  # an outcome
TIE, NO_PLACE = -1, -2  # in place of the place of a text: neither of two is better; nothing definite was said
WHICH_OF_TWO = OneOf(tuple(Choice(code, name) for code, name in enumerate(("second", "first", "tie"))))
TRANSITIVE = mark("Transitive triads")
TIES = {"half": mark("a tie is half a win of each"), "left-out": mark("ties are left out")}
IMPLIED = mark("each answer gives %(pairs)s implied pairs: the best over each other, each other over the worst")
INTERVALS = mark(
    "%(percent)s intervals by a normal approximation, in which pairs of one answer count less where they are not "
    "independent (10.5705/ss.2009.248)"
)
NOT_ANSWERED = mark("no comparison that shows it has been answered")
NOT_CONNECTED = mark("the answers so far do not connect all texts of the row")
NO_MAXIMUM = mark(
    "a text, or a group of them, won or lost every comparison with the others, so that no score is the likeliest; "
    "give a prior"
)


def choice_places(form: Form, size: int) -> Callable[[Answer], tuple[int, int]]:
    """Function that gives the places, from 0, of the best and the worst of `size` texts in an answer: TIE for both of
    two, NO_PLACE where nothing definite is said. Raises InputError for a form that does not compare so many.
    """
    letters = [*LETTERS[:size]]
    questions = {name: question for name, question in form.questions if isinstance(question, OneOf)}
    choices = {name: [of.name for of in question if of.definite] for name, question in questions.items()}
    names = ["best", "worst"] if size > 2 else [name for name, own in choices.items() if own[:2] == letters]
    if size == 2 and (len(names) != 1 or len(choices[names[0]]) > 3):
        raise InputError("it compares 2 texts, so one question asks for one: one_of(A,B) or one_of(A,B,tie)")
    if size > 2 and (any(choices.get(name) != letters for name in names) or ("worst", "best") not in form.unlike):
        question = f"one_of({','.join(letters)})"
        two = f'best = "{question}", worst = "{question} unlike best"'
        raise InputError(f"it compares {size} texts, so it asks for two of them: {two}")

    def find_places(answer: Answer) -> tuple[int, int]:
        given = [None if answer.get(name) is None else questions[name][answer[name]] for name in names]
        if any(choice is None or not choice.definite for choice in given):
            return NO_PLACE, NO_PLACE
        best, *worst = (letters.index(of.name) if of.name in letters else TIE for of in filter(None, given))
        return best, worst[0] if worst else TIE if best == TIE else 1 - best

    return find_places


def implied_pairs(shown: Ints, best: Ints, worst: Ints) -> dict[str, Ints]:
    """What answers say of each two of the texts that they show, `(n, size)`: arrays `answer` (the place of the answer),
    `first` and `second` (texts, in the order shown) and `outcome`: 1 the first is better, 0 the second, 2 a tie.

    Of a best-worst answer, two texts that are neither the best nor the worst are left out.
    """
    size = shown.shape[1]
    one, other = np.array(list(combinations(range(size), 2))).T
    best, worst = best[:, None], worst[:, None]
    outcome = np.where((best == one) | (worst == other), 1, np.where((best == other) | (worst == one), 0, NO_PLACE))
    outcome = np.where(best == TIE, TIED, outcome)
    answer, pair = np.nonzero(outcome != NO_PLACE)
    first, second = shown[answer, one[pair]], shown[answer, other[pair]]
    return {"answer": answer, "first": first, "second": second, "outcome": outcome[answer, pair]}


def fit_scores(pairs: Mapping[str, Ints], n_texts: int, options: Rank) -> tuple[Floats, Floats]:
    """Scores of the texts 0 to `n_texts` - 1 in log-odds, whose mean is 0, and the reach of their intervals to each
    side (NaN of a single answer), both `(n_texts,)`.

    `pairs` are as `implied_pairs` has them. With a prior, scores are the most probable ones where each is normal around
    0 with that standard deviation; without it, the likeliest, which do not exist where a group of texts has won or lost
    everything. A tie is half a win of each. Raises InputError, with the reason, where they are undefined.

    Intervals are those of a normal approximation, Student's t with one degree of freedom less than there are answers.
    What pairs of one answer say is counted by as much less as the scores vary more from answer to answer than
    independent pairs would let them: the magnitude adjustment of Ribatet, Cooley and Davison (2012),
    10.5705/ss.2009.248, but never counted by more. `benchmarks/ranking_coverage.py` measures how often they hold.
    """
    import choix

    first, second, outcome = pairs["first"], pairs["second"], pairs["outcome"]
    won = np.where(outcome == TIED, 0.5, outcome)
    forth, back = np.stack([first, second]), np.stack([second, first])
    beaten = np.concatenate([forth[:, won > 0], back[:, won < 1]], axis=1)
    graph = scipy.sparse.coo_matrix((np.ones(beaten.shape[1]), tuple(beaten)), shape=(n_texts, n_texts))
    count_parts = scipy.sparse.csgraph.connected_components
    if count_parts(graph, connection="weak")[0] > 1:
        raise InputError(NOT_CONNECTED)
    if not options.prior and count_parts(graph, connection="strong")[0] > 1:
        raise InputError(NO_MAXIMUM)
    precision, has_ties = 1 / options.prior**2 if options.prior else 0.0, bool((outcome == TIED).any())
    if has_ties:  # a tie is there once in each direction, so whatever is none is there twice
        beaten = np.concatenate([beaten, forth[:, won == 1], back[:, won == 0]], axis=1)
    scores = choix.opt_pairwise(n_texts, beaten.T.tolist(), alpha=precision / (1 if has_ties else 2), tol=1e-8)
    scores = scores - scores.mean()

    at = np.arange(len(first))
    design = np.zeros((len(first), n_texts))
    design[at, first], design[at, second] = 1, -1
    chance = scipy.special.expit(design @ scores)
    information = (design * (chance * (1 - chance))[:, None]).T @ design
    answers, answer = np.unique(pairs["answer"], return_inverse=True)
    slopes = np.zeros((len(answers), n_texts))
    np.add.at(slopes, answer, (won - chance)[:, None] * design)
    penalty, centre = precision * np.eye(n_texts), np.eye(n_texts) - 1 / n_texts
    inverse = np.linalg.pinv(information + penalty, hermitian=True)
    spread = float(np.trace(inverse @ slopes.T @ slopes))
    weight = min(1.0, float(np.trace(inverse @ information)) / spread) if spread else 1.0
    covariance = centre @ np.linalg.pinv(weight * information + penalty, hermitian=True) @ centre
    df = len(answers) - 1
    reach = t_quantile(df, (1 + options.level) / 2) if df else np.nan
    return scores, reach * np.sqrt(np.diag(covariance))


@dataclass(frozen=True)
class RankedText:
    """A text of a row by its number: the `n` answers to comparisons that show it, its `wins` of the implied pairs that
    it is in (`n_pairs`; a tie is half a win), its `score` with the ends of its interval, and its `rank`, 1 the best.

    All of the latter are None exactly where `undefined` says why.
    """

    row: int
    text_id: int
    n: int
    n_pairs: int
    wins: float
    score: float | None = None
    low: float | None = None
    high: float | None = None
    rank: int | None = None
    undefined: str | None = None


@dataclass(frozen=True, repr=False)
class Ranking(Plotted):
    """The texts of each row in their order, the best first, and how far people agree on it; see `fit_scores`.

    `agreement` is on the implied pairs, each two texts of a comparison being an item; None where no two people answered
    the same comparison. `transitive` is the share of any three texts of a row, all pairs of which a person decided,
    that this person put into an order. `row_texts` and `bodies` have the words of rows and of what is ranked.
    """

    options: Rank
    size: int
    n_comparisons: int
    n_answers: int
    n_people: int
    texts: tuple[RankedText, ...]
    agreement: Agreement | None
    transitive: Figure
    row_texts: Mapping[int, str]
    bodies: Mapping[int, str]

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each text, with its words and those of its row."""
        for item in self.texts:
            row, text_id, *figures = (getattr(item, name) for name in column_names(RankedText))
            own = {"row": row, "row_text": self.row_texts[row], "text_id": text_id, "text": self.bodies[text_id]}
            yield own | dict(zip(column_names(RankedText)[2:], figures, strict=True))

    @property
    def titles(self) -> dict[int, str]:
        """What figures and tables of each row are called: its number, and its words where they are known."""
        return {row: f"{row}. {text}" if text else str(row) for row, text in self.row_texts.items()}

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        counts = {name: getattr(self, name) for name in ("size", "n_comparisons", "n_answers", "n_people")}
        figures = {"agreement": self.agreement and self.agreement.as_dict(), "transitive": asdict(self.transitive)}
        own = {"options": as_params(self.options), "methods": self.methods, "texts": [*self.rows()]}
        return counts | own | figures

    @property
    def methods(self) -> tuple[str, ...]:
        """Sentences on how scores and intervals were made."""
        percent, prior = Written(f"{100 * self.options.level:g} %"), say("no prior: the likeliest ones")
        if self.options.prior:
            sd = Written(f"{self.options.prior:g}")
            prior = say("the most probable ones under a normal prior with mean 0 and standard deviation %(sd)s", sd=sd)
        pairs = say(TIES[self.options.tie])
        if self.size > 2:
            pairs = say(IMPLIED, pairs=2 * self.size - 3)
        return (
            say("Bradley-Terry scores in log-odds, 0 the mean of the row, by choix: %(prior)s", prior=prior),
            pairs,
            say(INTERVALS, percent=percent),
        )

    def _summary(self) -> str:
        return f"{len(self.texts):,} texts of {len(self.row_texts):,} rows by {self.n_answers:,} answers"


def rank_answers(
    answers: pd.DataFrame,
    shown: Ints,
    items: Mapping[int, Sequence[int]],
    options: Rank,
    row_texts: Mapping[int, str],
    bodies: Mapping[int, str],
) -> Ranking:
    """Rank the texts of each row.

    `answers` has `row` (a number), `cell_id` (a comparison), `annotator`, `best` and `worst` (as `choice_places`
    finds them); `shown` are the ids of the texts that each shows, in order, `(n, size)`; `items` those of each row.
    """
    is_said = ((answers["best"] != NO_PLACE) & (answers["worst"] != NO_PLACE)).to_numpy(np.bool_)
    answers, shown = answers[is_said].reset_index(drop=True), shown[is_said]
    pairs = pd.DataFrame(implied_pairs(shown, *answers[["best", "worst"]].to_numpy(np.int64).T))
    pairs = pairs.join(answers[["row", "cell_id", "annotator"]], on="answer")
    fitted = pairs if options.tie == "half" else pairs[pairs["outcome"] != TIED]
    pairs_by_row, shown_by_row = dict(iter(fitted.groupby("row"))), dict(iter(answers.groupby("row")))
    texts = list[RankedText]()
    for row, ids in items.items():
        of_row = shown_by_row.get(row, answers[:0]).index
        texts += _rank_row(row, np.array(ids), pairs_by_row.get(row, fitted[:0]), shown[of_row], options)
    n_people, n_comparisons = answers["annotator"].nunique(), answers["cell_id"].nunique()
    counts = (shown.shape[1], n_comparisons, len(answers), n_people)
    figures = _measure_agreement(pairs, options), _measure_transitivity(pairs)
    return Ranking(options, *counts, tuple(texts), *figures, row_texts, bodies)


def _rank_row(row: int, ids: Ints, pairs: pd.DataFrame, shown: Ints, options: Rank) -> Iterator[RankedText]:
    place, n, outcome = pd.Series(np.arange(len(ids)), ids), len(ids), pairs["outcome"].to_numpy(np.int64)
    first, second = (place.loc[pairs[name]].to_numpy(np.int64) for name in ("first", "second"))
    won = np.where(outcome == TIED, 0.5, outcome)
    wins = np.bincount(first, won, n) + np.bincount(second, 1 - won, n)
    n_pairs = np.bincount(first, minlength=n) + np.bincount(second, minlength=n)
    n_shown = (shown[:, :, None] == ids).sum(axis=(0, 1))
    counts = list(zip([row] * n, ids.tolist(), n_shown.tolist(), n_pairs.tolist(), wins.tolist(), strict=True))
    compared, renumbered = np.flatnonzero(n_pairs), np.cumsum(n_pairs > 0) - 1
    arrays = {"first": renumbered[first], "second": renumbered[second], "outcome": outcome}
    figures, why = dict[int, tuple[Any, ...]](), ""
    try:
        if len(compared):
            arrays["answer"] = pairs["answer"].to_numpy(np.int64)
            scores, reach = fit_scores(arrays, len(compared), options)
            ends = ([None if np.isnan(end) else end for end in (scores + way * reach).tolist()] for way in (-1, 1))
            ranks = scipy.stats.rankdata(-scores.round(6), "min").astype(np.int64).tolist()
            figures = dict(zip(compared.tolist(), zip(scores.tolist(), *ends, ranks, strict=True), strict=True))
    except InputError as error:
        why = str(error)
    for at in sorted(range(n), key=lambda at: figures[at][-1] if at in figures else n):
        yield RankedText(*counts[at], *figures.get(at, (None,) * 4 + (why if n_pairs[at] else NOT_ANSWERED,)))


def _measure_agreement(pairs: pd.DataFrame, options: Rank) -> Agreement | None:
    """Agreement on each two texts of a comparison; None where no two people say something of any."""
    items = pairs.groupby(["cell_id", "first", "second"], sort=False).ngroup()
    if not len(pairs) or not items.duplicated().any():
        return None
    labels = pd.DataFrame({"cell_id": items, "hs_id": pairs["row"], "cn_id": pairs["cell_id"]})
    labels = labels.assign(annotator=pairs["annotator"], code=pairs["outcome"])
    return compute_agreement(labels, WHICH_OF_TWO, Agree(level=options.level), Sides(("row", "column")))


def _measure_transitivity(pairs: pd.DataFrame) -> Figure:
    n_ordered = n_triads = 0
    for _, own in pairs.groupby(["row", "annotator"], sort=False):
        ids = np.unique(own[["first", "second"]])
        margin = np.zeros((len(ids), len(ids)), np.int64)  # how much oftener a text was better than another
        first, second = (np.searchsorted(ids, own[name]) for name in ("first", "second"))
        sign = np.where(own["outcome"] == TIED, 0, 2 * own["outcome"] - 1)
        np.add.at(margin, (first, second), sign)
        np.add.at(margin, (second, first), -sign)
        better = (margin > 0).astype(np.int64)
        decided = better + better.T
        n_triads += int(np.trace(decided @ decided @ decided)) // 6
        n_ordered += int(np.trace(decided @ decided @ decided)) // 6 - int(np.trace(better @ better @ better)) // 3
    if not n_triads:
        return Figure(TRANSITIVE, None, 0, undefined=mark("nobody has compared each two of three texts of a row"))
    return Figure(TRANSITIVE, n_ordered / n_triads, n_triads)
