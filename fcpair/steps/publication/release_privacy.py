"""What stands for people in a release, and how texts about the study are cleaned for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from fcpair.files.release.redaction import Redaction
from fcpair.params import MAIN, Annotate
from fcpair.records import BY, Origin, Role, Rule, RunRecord, Tier
from fcpair.stages.surveys.small_cells import merge_small_cells
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import effective_options, load_opaque_ids, options_as_done
from fcpair.steps.people.known_scores import LET_ON
from fcpair.store import Tx
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.people import people

CONTACT = "contact"
UNPUBLISHED = (BY, LET_ON, "reason", "invite")
"""Of runs: who began them, who did not qualify, words to whoever was dismissed, in which order people came."""
NOT_SAID = "(not said)"
_CODE = 16**10  # 40 bits


class Pseudonyms:
    """Fresh names of a study's people for one seed: the same whenever they are drawn, and known to nobody without the
    study. Models keep their names. `key` tells which pseudonyms these are; `study_key` which study.
    """

    def __init__(self, tx: Tx, seed: int) -> None:
        ids, everybody = load_opaque_ids(tx), people.people(tx)
        self.key = ids.digest_id("release pseudonyms", seed)
        self.study_key = ids.digest_id("release study")
        self.by_name = {
            person.name: f"p{ids.digest_id('release', seed, person.id) % _CODE:010x}"
            for person in everybody
            if person.role is not Role.MODEL
        }
        self.models = {person.name for person in everybody if person.role is Role.MODEL}
        self.by_id = {person.id: self.by_name.get(person.name, person.name) for person in everybody}

    def replace(self, value: Any) -> Any:
        """The fresh name of a person; anything else as it is."""
        return self.by_name.get(value, value) if isinstance(value, str) else value


def load_redaction(tx: Tx, pseudonyms: Pseudonyms, runs: list[RunRecord]) -> Redaction:
    """The cleaning for what is published of a study: its people and contacts, also those of earlier terms."""
    with grids.on_first_grid(tx):
        terms = (effective_options(tx, Annotate, {}), options_as_done(tx, Annotate))
    contacts = {one.contact for one in terms} | {str(run.params.get(CONTACT, "")) for run in runs}
    words = set(_study_words(tx))  # whoever is called by one, as FC-CONAN's one validator, is not told by it
    names = {name: fresh for name, fresh in pseudonyms.by_name.items() if name not in words}
    kept = {*pseudonyms.models, *_model_names(runs)}
    return Redaction(names, contacts, kept)


def _study_words(tx: Tx) -> Iterator[str]:
    """The words of the study's own files: a pseudonym in the place of one would tell who is behind it."""
    yield from (*Role, *Rule, *Origin, *(tier.label for tier in Tier))
    for key in grids.for_each_grid(tx):
        yield from (key.name, *grids.side_names(tx))
        for round_ in rounds.of_grid(tx):
            yield round_.name
            for name, question in form_of(round_.form).questions:
                yield name
                for part in question.parts():
                    yield from (part.name, *(choice.name for choice in part.question))


def _model_names(runs: list[RunRecord]) -> Iterator[str]:
    """The names of models in the log, and of the packages that they came from."""
    for run in runs:
        for text in (run.params.get("model"), *(run.model or {}).values()):
            yield from text.split() if isinstance(text, str) else ()


def public_runs(tx: Tx, runs: list[RunRecord], redaction: Redaction) -> Iterator[dict[str, Any]]:
    """The runs as they are published: with the day of each, and without who began it, did not qualify, or words to a
    person. Those of surveys count answers and skips together, as few skips may be one respondent's.
    """
    surveys = {
        (key.name, round_.name)
        for key in grids.for_each_grid(tx)
        for round_ in rounds.of_grid(tx)
        if round_.role is Role.RESPONDENT
    }
    for run in runs:
        params = {name: value for name, value in run.params.items() if name not in UNPUBLISHED}
        counts = _without_skips(run.counts) if _place(run) in surveys else run.counts
        yield {
            "run": run.id,
            "stage": run.stage,
            "params": redaction.clean(params),
            "counts": redaction.clean(counts),
            "model": redaction.clean(run.model),
            "fcpair": run.version,
            "day": run.at[:10],
        }


def _place(run: RunRecord) -> tuple[str, str]:
    """The grid and the round that a run is about, as far as it is about a round."""
    values = {**run.params, **run.counts}
    round_name = values.get("round") or run.stage.removesuffix(" import").removesuffix(" withdraw")
    return str(values.get("grid") or MAIN), str(round_name)


def _without_skips(counts: Mapping[str, Any]) -> dict[str, Any]:
    others = {name: value for name, value in counts.items() if name not in ("answers", "skips")}
    return others if "skips" not in counts else {"answers and skips": counts["answers"] + counts["skips"], **others}


def demographic_counts(tx: Tx) -> list[tuple[str, str, int]]:
    """What people said about themselves: question, answer and number of people, in cells of five or more."""
    said = [dict(item["demographics"]) for item in people.terms(tx) if item["role"] != Role.MODEL.value]
    questions = dict.fromkeys(question for answers in said for question in answers)
    return [
        (question, answer, n)
        for question in questions
        for answer, n in sorted(
            merge_small_cells(Counter(answers.get(question) or NOT_SAID for answers in said)).items()
        )
    ]
