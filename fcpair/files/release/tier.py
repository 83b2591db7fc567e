"""Files of tiers: tables, grades, BEIR and Hugging Face folders, training sets, the corpus less one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from fcpair.arrays import Ints
from fcpair.errors import InputError
from fcpair.files.corpus.corpus import CN, HS, OWN_COLUMNS, OWN_IDS, check_own_ids, with_own_ids
from fcpair.files.release.redaction import Escaped, code_span, escape_line, render
from fcpair.lazy import pd
from fcpair.params import Export, Ids, is_about_hate
from fcpair.records import SampleSize, Tier, Verdict
from fcpair.stages.adjudication.partition import TierRule, best_first, own_tier_names
from fcpair.stages.corpus.sample import draw_positions, own_order
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.stages.questions.labels import final_names, grades_of, positive_names

_VERDICTS = {int(Verdict.AGREE): "valid", int(Verdict.DISAGREE): "not valid", NO_CODE: ""}
HEADER = ("query-id", "corpus-id", "score")


def pair_frame(pairs: pd.DataFrame, question: Closed, rules: tuple[TierRule, ...]) -> pd.DataFrame:
    """The pairs by the names of what was decided: `pair`, `hs_id`, `cn_id`, `label`, `verdict`, `tier`, `n_labels`, and
    where the study has tiers of its own `own_tiers`; `pairs` is as `tier_table` takes them.
    """
    frame = pairs[["cell_id", "hs_id", "cn_id"]].set_axis(["pair", "hs_id", "cn_id"], axis="columns")
    frame = frame.assign(
        label=pairs["final"].map({choice.code: choice.name for choice in question}),
        verdict=pairs["verdict"].map(_VERDICTS),
        tier=pairs["tier"].map({int(tier): tier.label for tier in Tier}),
        n_labels=pairs["n_labels"],
    )
    return frame.assign(own_tiers=own_tier_names(pairs["tiers"], rules)) if len(rules) > len(Tier) else frame


def tier_table(
    pairs: pd.DataFrame,
    labels: pd.DataFrame,
    texts: pd.DataFrame,
    question: Closed,
    rules: tuple[TierRule, ...],
    ids: Ids | None = None,
) -> pd.DataFrame:
    """Put the pairs of a tier (`cell_id`, `hs_id`, `cn_id`, `n_labels`, `final`, `verdict`, `tier`, `tiers`) beside
    their `texts` (`text_id`, `body`, `language`, `meta`) and `labels` (`cell_id`, `annotator`, `code`).

    Columns: those of `pair_frame`, `hs` and `cn` after the ids, with `OWN_IDS` in front of them, `label.NAME` for each
    annotator (empty if there is none), `hs.KEY` and `cn.KEY` for each item of metadata and, if known, the languages.
    """
    names = {choice.code: choice.name for choice in question}
    body, table = texts.set_index("text_id")["body"], pair_frame(pairs, question, rules)
    for at, side in enumerate(("hs", "cn"), 3):
        table.insert(at, side, table[f"{side}_id"].map(body))
    table = with_own_ids(table, texts, ids=ids)
    by_annotator = labels.assign(label=labels["code"].map(names)).pivot_table(
        index="cell_id", columns="annotator", values="label", aggfunc="first", sort=False
    )
    for name in sorted(by_annotator.columns):
        table[f"label.{name}"] = pairs["cell_id"].map(by_annotator[name]).fillna("")
    described = zip(texts["meta"], texts["language"].fillna(""), strict=True)
    meta = pd.Series([meta | ({"language": language} if language else {}) for meta, language in described])
    meta.index = texts["text_id"]
    for side in ("hs", "cn"):
        used = meta.loc[pairs[f"{side}_id"]]
        for key in dict.fromkeys(key for item in used for key in item if key != f"{side}_id"):
            table[f"{side}.{key}"] = [item.get(key, "") for item in used]
    return table


def grades(pairs: pd.DataFrame, question: Closed, pool: Collection[int], *, binary: bool = False) -> pd.DataFrame:
    """Grade the judged pairs of a tier whose CN is in the pool: `hs_id`, `cn_id`, `grade`, by number of the pair.

    Where the labels are grades (`grades_of`), the grade is that of the label. Else it is 0 for a pair that is not
    appropriate, and the rank of its best tier, 1 (Bronze) to 4 (Diamond), for one that is; 1, too, where it is in a
    tier of the study's own and in none of the four. With `binary`, every appropriate pair has 1, every other one 0.
    """
    inside = pairs[pairs["cn_id"].isin(pool)].sort_values("cell_id")
    grade = inside["final"].isin(question.positive)
    if not binary:
        by_label, by_tier = grades_of(question), inside["tier"].clip(lower=1).where(grade, 0)
        grade = inside["final"].map(by_label) if by_label else by_tier
    return inside[["hs_id", "cn_id"]].assign(grade=grade.astype("int64")).reset_index(drop=True)


Words = Mapping[str, Mapping[int, str]]  # what a file calls each text, by side


def qrels_text(graded: pd.DataFrame, words: Words = MappingProxyType({})) -> str:
    """The lines of a qrels file, `hs_id 0 cn_id grade`, from what `grades` returns."""
    columns = _in_words(graded, words).assign(iteration=0)[["hs_id", "iteration", "cn_id", "grade"]]
    return str(columns.to_csv(sep=" ", header=False, index=False, lineterminator="\n"))


def _in_words(graded: pd.DataFrame, words: Words) -> pd.DataFrame:
    return graded.assign(**{f"{side}_id": graded[f"{side}_id"].map(by_id) for side, by_id in words.items()})


def beir_files(
    graded: pd.DataFrame, bodies: pd.Series[str], pool: Sequence[int], words: Words = MappingProxyType({})
) -> dict[str, pd.DataFrame | str]:
    """The files of a BEIR folder of what `grades` returns: `corpus.jsonl` (`_id`, `title`, which is empty, `text`), the
    pool in its order; `queries.jsonl` (`_id`, `text`), the HS that have a grade; and `qrels/test.tsv` as text.
    """
    hs_ids, hs_words, cn_words = graded["hs_id"].drop_duplicates().tolist(), words.get(HS, {}), words.get(CN, {})
    corpus, queries = _texts(bodies, list(pool), cn_words), _texts(bodies, hs_ids, hs_words)
    corpus.insert(1, "title", "")
    named = _in_words(graded, words).set_axis(list(HEADER), axis="columns")
    qrels = named.to_csv(sep="\t", index=False, lineterminator="\n")
    return {"corpus.jsonl": corpus, "queries.jsonl": queries, "qrels/test.tsv": qrels}


def _texts(bodies: pd.Series[str], ids: list[int], words: Mapping[int, str]) -> pd.DataFrame:
    return pd.DataFrame({"_id": [words.get(id_, str(id_)) for id_ in ids], "text": bodies.loc[ids].to_numpy()})


CARD = "README.md"
DEFAULT = Tier.BRONZE.label
ABOUT_OWN_ID = "the own id of the text, from the table that it was imported from; several are separated by spaces"
CARD_COLUMNS = {
    "pair": "number of the pair",
    "hs_id": "number of the {hs}",
    "cn_id": "number of the {cn}",
    **dict.fromkeys(OWN_IDS, ABOUT_OWN_ID),
    "hs": "the {hs}, verbatim",
    "cn": "the {cn}, verbatim",
    "label": "the final label, after adjudication: {labels}",
    "verdict": "whether the validators agreed with the final label: `valid` or `not valid`",
    "tier": "the best tier that the pair is in",
    "n_labels": "how many people labelled the pair",
    "own_tiers": "the tiers of this study's own that the pair is in",
    "simulated": "whether a label or verdict of the pair was made up by simulated people",
}
WARNING = (  # on the card of a study that is about hate
    "> **Content warning.** The texts may be hateful and distressing. They are here for research on how to answer",
    "> such texts, and do not express the views of the people who made this data.\n",
)
PREFIXES = {
    "label.": "what each annotator answered, under a pseudonym; empty where there is none",
    "hs.": "what the corpus says about the {hs}",
    "cn.": "what the corpus says about the {cn}",
}


@dataclass(frozen=True)
class CardFacts:
    """Facts on a card about the study: its title, the names of its sides, its labels and what made the folder."""

    title: str
    hs_name: str
    cn_name: str
    question: Closed
    rules: tuple[TierRule, ...]
    simulated: str | None  # None unless answers were made up
    version: str
    keeps_known: bool = False  # pairs of the corpus were judged, too
    look_again: Sequence[str] = ()  # what is to be known of labels that changed after a decision or a verdict
    sampled: SampleSize | None = None  # how many cells were drawn where not all were judged


def hf_files(rows_by_tier: Mapping[str, pd.DataFrame], facts: CardFacts) -> dict[str, pd.DataFrame | str]:
    """The files of a Hugging Face folder, from the table of each tier in the order of `facts.rules`: the columns of
    `tier_table`, and `simulated`.

    `data/TIER.parquet` for each tier that is not empty, Bronze first, all with the same columns; and `README.md`, which
    tells `datasets.load_dataset` of them as configurations with one split, `train`.
    """
    tiers = {tier: rows for tier, rows in rows_by_tier.items() if len(rows)}
    columns = tiers[DEFAULT].columns
    described: dict[str, str] = {code_span(name): text for name, text in CARD_COLUMNS.items() if name in columns}
    for prefix, text in PREFIXES.items():
        if prefixed := [name for name in columns if name.startswith(prefix) and name not in CARD_COLUMNS]:
            described[", ".join(map(code_span, prefixed))] = text
    names = {"hs": facts.hs_name, "cn": facts.cn_name}
    articles = {side: "an" if name[:1].lower() in set("aeiou") else "a" for side, name in names.items()}
    words = {side: escape_line(name) for side, name in names.items()}
    words["labels"] = Escaped(", ".join(map(code_span, final_names(facts.question))))
    card = render(  # it names no licence and no citation: a study knows neither
        "tiers.md.j2",
        facts=facts,
        tiers=tiers,
        default=DEFAULT,
        four=[tier.label for tier in reversed(Tier)],
        rules=[rule for rule in best_first(facts.rules) if rule.tier in tiers],
        **{side: Escaped(f"{article} {words[side]}") for side, article in articles.items()},
        labelled=Escaped(" or ".join(map(code_span, positive_names(facts.question)))),
        positive=[choice.name for choice in facts.question if choice.positive],
        columns={name: text.format(**words) for name, text in described.items()},
        warning=Escaped("\n".join(WARNING)) if is_about_hate(facts.hs_name) else "",
    )
    return {**{f"data/{tier}.parquet": rows for tier, rows in tiers.items()}, CARD: card}


Kind = Literal["triplets", "pairs", "preferences"]
COLUMNS: dict[Kind, tuple[str, str, str]] = {
    "triplets": ("anchor", "positive", "negative"),
    "pairs": ("sentence1", "sentence2", "label"),
    "preferences": ("prompt", "chosen", "rejected"),
}


@dataclass(frozen=True)
class TrainingSets:
    """The two sides of a training set, both with the three columns that COLUMNS has for its kind.

    `counts`: `train` and `test` (rows), `train_hs` and `test_hs`, and for triplets and preferences how many HS of
    the tier gave no row, `hs_without_positive` and `hs_without_negative`.
    """

    train: pd.DataFrame
    test: pd.DataFrame
    counts: dict[str, int]


def training_sets(kind: Kind, pairs: pd.DataFrame, bodies: pd.Series[str], options: Export) -> TrainingSets:
    """Make a training set of the `pairs` of a tier (`hs_id`, `cn_id`, `appropriate`), and split it by HS.

    Triplets and preferences set an appropriate CN beside one that was judged not appropriate for the same HS; pairs are
    the judged pairs, with the label 1 or 0. The same pairs, share and seed put an HS on the same side in every kind.
    Raises InputError where a side is empty.
    """
    if kind == "pairs":
        rows = pairs[["hs_id", "cn_id"]].assign(label=pairs["appropriate"].astype("int64"))
    else:
        rows = draw_negatives(pairs, bodies, options.negatives, options.seed)
    if rows.empty:
        raise InputError(f"no HS has both an appropriate and a not appropriate CN, so there are no {kind}")
    test_hs = draw_test_hs(pairs["hs_id"], bodies, options.test_share, options.seed)
    is_test = rows["hs_id"].isin(test_hs).to_numpy()
    if is_test.all() or not is_test.any():
        side = "train" if is_test.all() else "test"
        hint = f"at --test-share {options.test_share}; change it, or the --seed"
        raise InputError(f"no {kind} fall on the {side} side {hint}")
    table = rows.set_axis(list(COLUMNS[kind]), axis="columns")
    table = table.assign(**{name: table[name].map(bodies) for name in COLUMNS[kind][: 2 if kind == "pairs" else 3]})
    counts = {"train": int((~is_test).sum()), "test": int(is_test.sum())}
    counts |= {"train_hs": rows["hs_id"][~is_test].nunique(), "test_hs": rows["hs_id"][is_test].nunique()}
    if kind != "pairs":
        by_hs = pairs.groupby("hs_id")["appropriate"]
        counts |= {"hs_without_positive": int((~by_hs.any()).sum()), "hs_without_negative": int(by_hs.all().sum())}
    return TrainingSets(table[~is_test].reset_index(drop=True), table[is_test].reset_index(drop=True), counts)


def draw_test_hs(hs_ids: pd.Series[int], bodies: pd.Series[str], share: float, seed: int) -> Ints:
    """Draw the HS of the test side, a `share` (above 0, below 1) of the distinct ones; returns their ids, ascending.

    The draw rests on the texts, not on the ids. Raises InputError where one of the sides would have no HS.
    """
    distinct_hs = np.unique(hs_ids.to_numpy(np.int64))
    n = round(share * len(distinct_hs))
    if len(distinct_hs) < 2:
        raise InputError(f"{len(distinct_hs)} HS cannot be split into two sides; name a tier that has two or more")
    if not 0 < n < len(distinct_hs):
        side, other = ("test", "larger") if n <= 0 else ("train", "smaller")
        raise InputError(
            f"--test-share {share} of {len(distinct_hs)} HS leaves the {side} side empty; name a {other} one "
            f"({1 / len(distinct_hs):.3g} is one HS)"
        )
    return np.asarray(distinct_hs[draw_positions(own_order(bodies[distinct_hs]), n, seed, "HS")])


def draw_negatives(pairs: pd.DataFrame, bodies: pd.Series[str], n: int, seed: int) -> pd.DataFrame:
    """Draw `n` judged negatives of the same HS for each appropriate pair of `pairs` (`hs_id`, `cn_id`, `appropriate`),
    without replacement; all of them if there are fewer. The draw rests on the texts, not on the ids.

    Columns: `hs_id`, `positive`, `negative` (ids of CNs), in the order of the appropriate pairs.
    """
    pairs = pairs.assign(place=np.arange(len(pairs)))
    by_text = pairs.iloc[own_order(pairs["hs_id"].map(bodies), pairs["cn_id"].map(bodies))]
    by_text = by_text.assign(hs=pd.factorize(by_text["hs_id"])[0])
    positive, negative = (by_text[by_text["appropriate"] == is_one] for is_one in (True, False))
    first = np.searchsorted(negative["hs"], positive["hs"], "left")
    n_negatives = np.searchsorted(negative["hs"], positive["hs"], "right") - first
    drawn = draw_for_sizes(n_negatives, n, np.random.default_rng([seed, 1]))
    row, _ = np.nonzero(drawn >= 0)
    ends = positive.iloc[row], negative.iloc[(first[:, np.newaxis] + drawn)[drawn >= 0]]
    order = np.lexsort([end["place"] for end in ends[::-1]])
    columns = {"hs_id": ends[0]["hs_id"], "positive": ends[0]["cn_id"], "negative": ends[1]["cn_id"]}
    return pd.DataFrame({name: column.to_numpy()[order] for name, column in columns.items()})


def draw_for_sizes(sizes: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Draw `n` of `0 .. size - 1` for each of many sizes, without replacement; all of them if there are fewer.

    Robert Floyd's way, a step for all sizes at once, so that its cost does not grow with them: J. Bentley and
    R. Floyd (1987), A sample of brilliance, CACM 30(9), 754-757, DOI 10.1145/30401.315746. Shape `(n_sizes, up to n)`,
    each row ascending, with -1 before it if there are fewer than `n`.
    """
    takes = np.minimum(sizes, n)
    drawn = np.full((len(sizes), int(takes.max(initial=0))), -1, np.int64)
    for step in range(drawn.shape[1]):
        last = np.maximum(sizes - takes + step, 0)
        drawn_value = rng.integers(0, last, endpoint=True)
        is_taken = (drawn == drawn_value[:, np.newaxis]).any(axis=1)
        drawn[:, step] = np.where(step < takes, np.where(is_taken, last, drawn_value), -1)
    return np.sort(drawn, axis=1)


def remaining_rows(
    rows: pd.DataFrame, hs_ids: Collection[int], cn_ids: Collection[int], ids: Ids | None = None
) -> pd.DataFrame:
    """The rows of the corpus (`hs_id`, `cn_id`, `hs`, `cn`, `language`, `meta`) without those that have some HS or CN.

    Columns: `hs`, `cn`, `hs_id` and `cn_id` (the study's with the ids `study`, else unless the corpus has such a column
    of its own), one for each item of metadata (empty where a row has none) and, where any is known, `language`. The two
    ids tell `fcpair import` that the file is fcpair's, so that guarded cells are read back as they were. With the ids
    `own`, it raises InputError where a text has none.
    """
    rows_left = rows[~rows["hs_id"].isin(hs_ids) & ~rows["cn_id"].isin(cn_ids)]
    names = list(dict.fromkeys(name for item in rows["meta"] for name in item))
    for side in (HS, CN) if ids == "own" else ():
        there = rows_left[rows_left[side] != ""]
        own_ids = (item.get(f"{side}_id", "").strip() for item in there["meta"])
        check_own_ids(dict(zip(there[f"{side}_id"].tolist(), own_ids, strict=True)), side)
    names = [name for name in names if ids != "study" or name not in OWN_COLUMNS]
    columns = {side: rows_left[side] for side in (HS, CN)}
    columns |= {name: rows_left[name] for name in OWN_COLUMNS if name not in names}
    columns |= {name: pd.Series([item.get(name, "") for item in rows_left["meta"]], rows_left.index) for name in names}
    if rows["language"].fillna("").any():
        columns["language"] = rows_left["language"].fillna("")
    return pd.DataFrame(columns).reset_index(drop=True)
