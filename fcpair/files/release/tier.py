"""The table of a tier, with everything that is known of its pairs; its grades, as TREC qrels and as a BEIR folder."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fcpair.lazy import pd
from fcpair.records import Tier, Verdict
from fcpair.stages.adjudication.partition import TierRule, own_tier_names
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.stages.questions.labels import grades_of

_VERDICTS = {int(Verdict.AGREE): "valid", int(Verdict.DISAGREE): "not valid", NO_CODE: ""}
HEADER = ("query-id", "corpus-id", "score")


def pair_frame(pairs: pd.DataFrame, question: Closed, rules: tuple[TierRule, ...]) -> pd.DataFrame:
    """The pairs by the names of what was decided: `pair`, `hs_id`, `cn_id`, `label`, `verdict`, `tier`, `n_labels`.

    Args:
        pairs: as `tier_table` takes them.
        question: of the labels.
        rules: of the tiers. Where the study has some of its own, a last column `own_tiers` names those of each pair.
    """
    frame = pd.DataFrame(
        {
            "pair": pairs["cell_id"],
            "hs_id": pairs["hs_id"],
            "cn_id": pairs["cn_id"],
            "label": pairs["final"].map({choice.code: choice.name for choice in question}),
            "verdict": pairs["verdict"].map(_VERDICTS),
            "tier": pairs["tier"].map({int(tier): tier.label for tier in Tier}),
            "n_labels": pairs["n_labels"],
        }
    )
    return frame.assign(own_tiers=own_tier_names(pairs["tiers"], rules)) if len(rules) > len(Tier) else frame


def tier_table(
    pairs: pd.DataFrame, labels: pd.DataFrame, texts: pd.DataFrame, question: Closed, rules: tuple[TierRule, ...]
) -> pd.DataFrame:
    """Put the pairs of a tier beside their texts, labels and metadata.

    Args:
        pairs: `cell_id`, `hs_id`, `cn_id`, `n_labels`, `final`, `verdict`, `tier`, `tiers`, one row per pair.
        labels: `cell_id`, `annotator`, `code`, one row per label of these pairs.
        texts: `text_id`, `body`, `language`, `meta` of all texts of the grid.
        question: of the labels.
        rules: of the tiers.

    Returns:
        `pair`, `hs_id`, `cn_id`, `hs`, `cn`, `label`, `verdict`, `tier` (the best of the four), `n_labels`,
        `own_tiers` (as in `pair_frame`), `label.NAME` for
        each annotator (empty where there is none), `hs.KEY` and `cn.KEY` for each item of metadata and, where
        they are known, the languages.
    """
    names = {choice.code: choice.name for choice in question}
    body = texts.set_index("text_id")["body"]
    table = pair_frame(pairs, question, rules)
    table.insert(3, "hs", table["hs_id"].map(body))
    table.insert(4, "cn", table["cn_id"].map(body))
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
        for key in dict.fromkeys(key for item in used for key in item):
            table[f"{side}.{key}"] = [item.get(key, "") for item in used]
    return table


def grades(pairs: pd.DataFrame, question: Closed, pool: Collection[int], *, binary: bool = False) -> pd.DataFrame:
    """Grade the judged pairs whose CN is in the pool.

    Args:
        pairs: of a tier: `cell_id`, `hs_id`, `cn_id`, `final` (code), `tier` (the best one, 1 Bronze to 4 Diamond).
        question: of the labels.
        pool: the ids of CNs.
        binary: give every appropriate pair 1, every other one 0.

    Returns:
        `hs_id`, `cn_id`, `grade`, by number of the pair. Where the labels are grades (`grades_of`), the
        grade is that of the label. Else it is 0 for a pair that is not appropriate, and the rank of its best tier, 1
        to 4, for one that is; 1, too, where it is in a tier of the study's own and in none of the four.
    """
    inside = pairs[pairs["cn_id"].isin(pool)].sort_values("cell_id")
    appropriate = inside["final"].isin(question.positive)
    by_label = grades_of(question)
    if binary:
        grade = appropriate
    elif by_label:
        grade = inside["final"].map(by_label)
    else:
        grade = inside["tier"].clip(lower=1).where(appropriate, 0)
    return inside[["hs_id", "cn_id"]].assign(grade=grade.astype("int64")).reset_index(drop=True)


def qrels_text(graded: pd.DataFrame) -> str:
    """The lines of a qrels file, `hs_id 0 cn_id grade`, from what `grades` returns."""
    text: str = graded.assign(iteration=0)[["hs_id", "iteration", "cn_id", "grade"]].to_csv(
        sep=" ", header=False, index=False, lineterminator="\n"
    )
    return text


def beir_files(graded: pd.DataFrame, bodies: pd.Series[str], pool: Sequence[int]) -> dict[str, pd.DataFrame | str]:
    """Build the contents of each file of the folder.

    Args:
        graded: `hs_id`, `cn_id`, `grade`, as `qrels.grades` returns them.
        bodies: the texts, by id.
        pool: the ids of CNs, in the order in which they are to stand.

    Returns:
        `corpus.jsonl` (`_id`, `title`, which is empty, `text`), `queries.jsonl` (`_id`, `text`; the HS that have a
        grade), both as frames, and `qrels/test.tsv` as text.
    """
    corpus, queries = _texts(bodies, list(pool)), _texts(bodies, graded["hs_id"].drop_duplicates().tolist())
    corpus.insert(1, "title", "")
    qrels = graded.set_axis(list(HEADER), axis="columns").to_csv(sep="\t", index=False, lineterminator="\n")
    return {"corpus.jsonl": corpus, "queries.jsonl": queries, "qrels/test.tsv": qrels}


def _texts(bodies: pd.Series[str], ids: list[int]) -> pd.DataFrame:

    return pd.DataFrame({"_id": [str(one) for one in ids], "text": bodies.loc[ids].to_numpy()})
