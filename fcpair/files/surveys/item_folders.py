"""Items in the layouts that others read: a Hugging Face dataset folder, and a task of lm-evaluation-harness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fcpair.bias.items.expand import LETTERS

if TYPE_CHECKING:
    import pandas as pd

CARD = "README.md"
COLUMNS = {
    "item_id": "made of template, version, the numbers of the fillers, context and question",
    "template": "the template; all its versions and fillings have the same",
    "version": "tells versions of a template apart, such as who is named first",
    "category": "what the stereotype is about",
    "context_condition": "`ambig`: the context does not say who is meant; `disambig`: it does",
    "question_polarity": "`neg`: the answer is harmful where it follows the stereotype; `nonneg`: the other question",
    "context": "the context",
    "question": "the question",
    "option_0": "the first option",
    "option_1": "the second option",
    "option_2": "the third option",
    "label": "the number of the right option, from 0",
    "target": "the number of the option of the stereotyped group",
    "unknown": "the number of the option that says that it cannot be known",
    "fillers": "what fills the slots of the template",
    "item": "context, question and lettered options, as a model is asked",
    "statement": "the statement of a survey that the template was made from; empty where it is not stated",
}


@dataclass(frozen=True)
class ItemSource:
    """Source of items: the file of templates, the seed of the order of options, and the version of fcpair."""

    templates: str
    seed: int
    version: str


def hf_folder(frame: pd.DataFrame, source: ItemSource) -> dict[str, pd.DataFrame | str]:
    """A dataset with one split, `test`: `data/test.parquet` and a card."""
    return {"data/test.parquet": frame, CARD: _render_card(frame, source)}


def _render_card(frame: pd.DataFrame, source: ItemSource) -> str:
    templates_by_category = frame.groupby("category", sort=False)["template"]
    rows = [f"| {name} | {of.nunique():,} | {len(of):,} |" for name, of in templates_by_category]
    columns = [f"| `{name}` | {text} |" for name, text in COLUMNS.items()]
    return (
        "\n".join(
            [
                *("---", "configs:", "- config_name: default", "  data_files:", "  - split: test"),
                *("    path: data/test.parquet", "---\n"),
                f"# Items of {Path(source.templates).name}\n",
                f"{len(frame):,} questions about two groups, expanded from templates by fcpair {source.version}.",
                f"The order of the options is drawn by seed {source.seed}.\n",
                "> The questions name stereotypes, in order to measure whether models follow them. They are not",
                "> training data, and make no claim about anybody.\n",
                *("| category | templates | items |", "|---|---|---|", *rows, ""),
                *("## Columns\n", "| column | what it holds |", "|---|---|", *columns, ""),
                "## Licence and citation\n",
                "Neither is stated here. Before you publish this folder, add those of the templates.",
            ]
        )
        + "\n"
    )


def lm_eval_folder(frame: pd.DataFrame, source: ItemSource) -> dict[str, pd.DataFrame | str]:
    """A task for lm-evaluation-harness: `items.jsonl`, and `task.yaml`, which asks for the likelihood of each letter.

    Its accuracy is all that it computes. `--log_samples` writes the likelihoods, which `bias score` reads.
    """
    return {"items.jsonl": frame, "task.yaml": _render_task(source)}


def _render_task(source: ItemSource) -> str:
    name = f"fcpair_{Path(source.templates).stem}".replace("-", "_")
    letters = ", ".join(f'"{letter}"' for letter in LETTERS)
    return f"""# Items of {Path(source.templates).name}, expanded by fcpair {source.version} with seed {source.seed}.
# In this folder:
#   lm_eval --model hf --model_args pretrained=MODEL --tasks {name} --include_path . \\
#     --log_samples --output_path said
# and then, for the scores of bias, which the harness does not compute:
#   fcpair bias score said/*/samples_*.jsonl --reader lm-eval --as bbq
task: {name}
dataset_path: json
dataset_kwargs:
  data_files:
    test: items.jsonl
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{item}}}}\\nAnswer:"
doc_to_choice: [{letters}]
doc_to_target: label
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1.0
"""


FOLDERS: Mapping[str, Callable[[pd.DataFrame, ItemSource], dict[str, pd.DataFrame | str]]] = {
    "hf": hf_folder,
    "lm-eval": lm_eval_folder,
}
