"""The table of a tier: one row per pair, with everything that is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fcpair.records import Tier, Verdict
from fcpair.stages.adjudication.partition import TierRule, own_tier_names
from fcpair.stages.questions import NO_CODE, Closed

if TYPE_CHECKING:
    import pandas as pd

_VERDICTS = {int(Verdict.AGREE): "valid", int(Verdict.DISAGREE): "not valid", NO_CODE: ""}


def pair_frame(pairs: pd.DataFrame, question: Closed, rules: tuple[TierRule, ...]) -> pd.DataFrame:
    """The pairs by the names of what was decided: `pair`, `hs_id`, `cn_id`, `label`, `verdict`, `tier`, `n_labels`.

    Args:
        pairs: as `tier_table` takes them.
        question: of the labels.
        rules: of the tiers. Where the study has some of its own, a last column `own_tiers` names those of each pair.
    """
    import pandas as pd

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
    import pandas as pd

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
