"""Items in the layouts that others read: a Hugging Face dataset folder, and a task of lm-evaluation-harness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fcpair.bias.items import LETTERS
from fcpair.files.release.redaction import render
from fcpair.lazy import pd

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
    card = render("items.md.j2", frame=frame, source=source, file=Path(source.templates).name, columns=COLUMNS)
    return {"data/test.parquet": frame, CARD: card}


def lm_eval_folder(frame: pd.DataFrame, source: ItemSource) -> dict[str, pd.DataFrame | str]:
    """A task for lm-evaluation-harness: `items.jsonl`, and `task.yaml`, which asks for the likelihood of each letter.

    Its accuracy is all that it computes. `--log_samples` writes the likelihoods, which `bias score` reads.
    """
    path = Path(source.templates)
    name = f"fcpair_{path.stem}".replace("-", "_")
    task = render("task.yaml.j2", source=source, file=path.name, name=name, letters=LETTERS)
    return {"items.jsonl": frame, "task.yaml": task}


FOLDERS: Mapping[str, Callable[[pd.DataFrame, ItemSource], dict[str, pd.DataFrame | str]]] = {
    "hf": hf_folder,
    "lm-eval": lm_eval_folder,
}
