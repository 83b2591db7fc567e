"""A Hugging Face dataset folder: one configuration per tier, and a card in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fcpair.files.release.redaction import Escaped, code_span, escape_line, render
from fcpair.lazy import pd
from fcpair.params import is_about_hate
from fcpair.records import SampleSize, Tier
from fcpair.stages.adjudication.partition import TierRule, best_first
from fcpair.stages.questions import Closed
from fcpair.stages.questions.labels import final_names, positive_names

CARD = "README.md"
DEFAULT = Tier.BRONZE.label
COLUMNS = {
    "pair": "number of the pair",
    "hs_id": "number of the {hs}",
    "cn_id": "number of the {cn}",
    "hs": "the {hs}, verbatim",
    "cn": "the {cn}, verbatim",
    "label": "the final label, after adjudication: {labels}",
    "verdict": "whether the validators agreed with the final label: `valid` or `not valid`",
    "tier": "the best tier that the pair is in",
    "n_labels": "how many people labelled the pair",
    "own_tiers": "the tiers of this study's own that the pair is in",
    "simulated": "whether a label or verdict of the pair was made up by simulated people",
}
WARNING = (
    "> **Content warning.** The texts may be hateful and distressing. They are here for research on how to answer",
    "> such texts, and do not express the views of the people who made this data.\n",
)
"""What stands on the card of a study that is about hate."""

PREFIXES = {
    "label.": "what each annotator answered, under a pseudonym; empty where there is none",
    "hs.": "what the corpus says about the {hs}",
    "cn.": "what the corpus says about the {cn}",
}


@dataclass(frozen=True)
class CardFacts:
    """Facts on a card about the study: its title, the names of its sides, its labels and what made the folder.

    `simulated` is None unless answers were made up; `keeps_known` says that pairs of the corpus were judged, too;
    `look_again` what is to be known of labels that changed after a decision or a verdict; `sampled` how many cells were
    drawn where not all were judged.
    """

    title: str
    hs_name: str
    cn_name: str
    question: Closed
    rules: tuple[TierRule, ...]
    simulated: str | None
    version: str
    keeps_known: bool = False
    look_again: Sequence[str] = ()
    sampled: SampleSize | None = None


def hf_files(rows_by_tier: Mapping[str, pd.DataFrame], facts: CardFacts) -> dict[str, pd.DataFrame | str]:
    """Build the contents of each file of the folder.

    Args:
        rows_by_tier: by the name of each tier of `facts.rules`, in their order, its table, with the columns that
            `tier.tier_table` describes, and `simulated`.
        facts: about the study.

    Returns:
        `data/TIER.parquet` for each tier that is not empty, Bronze first, all with the same columns; and
        `README.md`, which tells `datasets.load_dataset` of them as configurations with one split, `train`.
    """
    tiers = {tier: rows for tier, rows in rows_by_tier.items() if len(rows)}
    columns = tiers[DEFAULT].columns
    described: dict[str, str] = {code_span(name): text for name, text in COLUMNS.items() if name in columns}
    for prefix, text in PREFIXES.items():
        if prefixed := [name for name in columns if name.startswith(prefix)]:
            described[", ".join(map(code_span, prefixed))] = text
    words = {
        "hs": escape_line(facts.hs_name),
        "cn": escape_line(facts.cn_name),
        "labels": ", ".join(map(code_span, final_names(facts.question))),
    }
    card = render(  # it names no licence and no citation: a study knows neither
        "tiers.md.j2",
        facts=facts,
        tiers=tiers,
        default=DEFAULT,
        four=[tier.label for tier in reversed(Tier)],
        rules=[rule for rule in best_first(facts.rules) if rule.tier in tiers],
        hs=_with_article(facts.hs_name),
        cn=_with_article(facts.cn_name),
        labelled=Escaped(" or ".join(map(code_span, positive_names(facts.question)))),
        positive=[choice.name for choice in facts.question if choice.positive],
        columns={name: text.format(**words) for name, text in described.items()},
        warning=Escaped("\n".join(WARNING)) if is_about_hate(facts.hs_name) else "",
    )
    return {**{f"data/{tier}.parquet": rows for tier, rows in tiers.items()}, CARD: card}


def _with_article(name: str) -> Escaped:
    return Escaped(f"{'an' if name[:1].lower() in set('aeiou') else 'a'} {escape_line(name)}")
