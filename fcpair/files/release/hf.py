"""A Hugging Face dataset folder: one configuration per tier, and a card in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fcpair.files.release.redaction import code_span, escape_line
from fcpair.params import is_about_hate
from fcpair.records import SampleSize, Tier
from fcpair.stages.adjudication.partition import TierRule, best_first
from fcpair.stages.questions import Closed
from fcpair.stages.questions.labels import final_names, positive_names

if TYPE_CHECKING:
    import pandas as pd

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
NOVEL_NOTE = "No pair is in the corpus that the study started from."
KNOWN_NOTE = "They include pairs of the corpus that the study started from."
DRAWN_NOTE = "\nThe pairs shown to people were drawn with a random seed, evenly over both sides: {}."
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
    non_empty = {tier: rows for tier, rows in rows_by_tier.items() if len(rows)}
    return {**{_tier_path(tier): rows for tier, rows in non_empty.items()}, CARD: render_card(non_empty, facts)}


def _tier_path(tier: str) -> str:
    return f"data/{tier}.parquet"


def render_card(tiers: Mapping[str, pd.DataFrame], facts: CardFacts) -> str:
    """The card: front matter that names the configurations, then what a reader must know.

    It names no licence and no citation: a study knows neither.
    """
    title = escape_line(facts.title) or "A study without a title"
    simulated = [f"**{facts.simulated}.**\n"] if facts.simulated else []
    drawn_note = DRAWN_NOTE.format(facts.sampled) if facts.sampled else ""
    parts = [
        *("---", *_config_lines(tiers), "---\n", f"# {title}\n"),
        f"Pairs of {_with_article(facts.hs_name)} (`hs`) and {_with_article(facts.cn_name)} (`cn`), each judged by "
        "people.",
        f"Some judged pairs are labelled {_positive_labels(facts.question)}, the others are not; a pair that is "
        "not here was",
        "not judged.",
        f"{KNOWN_NOTE if facts.keeps_known else NOVEL_NOTE}{drawn_note}\n",
        *simulated,
        *(f"**{note}.**\n" for note in facts.look_again),
        *(WARNING if is_about_hate(facts.hs_name) else ()),
        "Do not try to find out who is behind an annotator's pseudonym.\n",
        *("## Tiers\n", *_tier_lines(tiers, facts), ""),
        f"{_nesting_note(facts)}Each is one configuration with one split, `train`:\n",
        "```python",
        "from datasets import load_dataset\n",
        f'rows = load_dataset("path/of/this/folder", "{_best(tiers, facts)}", split="train")',
        "```\n",
        *("## Columns\n", *_column_lines(tiers[DEFAULT], facts), ""),
        "## Licence and citation\n",
        "Neither is stated here. Before you publish this folder, add those of the corpus and of the labels.\n",
        f"Written by fcpair {facts.version}.",
    ]
    return "\n".join(parts) + "\n"


def _with_article(name: str) -> str:
    return f"{'an' if name[:1].lower() in set('aeiou') else 'a'} {escape_line(name)}"


def _config_lines(tiers: Mapping[str, pd.DataFrame]) -> list[str]:
    lines = ["configs:"]
    for tier in tiers:
        lines += [f"- config_name: {tier}", *(["  default: true"] if tier == DEFAULT else [])]
        lines += ["  data_files:", "  - split: train", f"    path: {_tier_path(tier)}"]
    return lines


def _tier_lines(tiers: Mapping[str, pd.DataFrame], facts: CardFacts) -> list[str]:
    demands = {rule.tier: str(rule) for rule in facts.rules}
    positive = {choice.name for choice in facts.question if choice.positive}
    lines = [
        f"| configuration | pairs | {_positive_labels(facts.question)} | `hs` | `cn` | asks for |",
        "|---|---|---|---|---|---|",
    ]
    for tier in [rule.tier for rule in best_first(facts.rules) if rule.tier in tiers]:
        rows = tiers[tier]
        n = (len(rows), rows["label"].isin(positive).sum(), rows["hs_id"].nunique(), rows["cn_id"].nunique())
        lines.append(f"| `{tier}` | {' | '.join(f'{one:,}' for one in n)} | {demands[tier]} |")
    return lines


def _best(tiers: Mapping[str, pd.DataFrame], facts: CardFacts) -> str:
    """The best tier that is not empty, of the four."""
    return next(rule.tier for rule in best_first(facts.rules) if rule.tier in tiers)


def _nesting_note(facts: CardFacts) -> str:
    if len(facts.rules) == len(Tier):
        return "Every tier holds those above it in this table. "
    names = ", ".join(f"`{tier.label}`" for tier in reversed(Tier))
    return f"Of {names}, every tier holds those before it; the others are this study's own. "


def _positive_labels(question: Closed) -> str:
    return " or ".join(map(code_span, positive_names(question)))


def _column_lines(rows: pd.DataFrame, facts: CardFacts) -> list[str]:
    labels = ", ".join(map(code_span, final_names(facts.question)))
    names = {"hs": escape_line(facts.hs_name), "cn": escape_line(facts.cn_name), "labels": labels}
    descriptions: dict[str, str] = {code_span(name): text for name, text in COLUMNS.items() if name in rows.columns}
    for prefix, text in PREFIXES.items():
        prefixed = [name for name in rows.columns if name.startswith(prefix)]
        descriptions |= {", ".join(map(code_span, prefixed)): text} if prefixed else {}
    lines = [f"| {name} | {text.format(**names)} |" for name, text in descriptions.items()]
    return ["| column | what it holds |", "|---|---|", *lines]
