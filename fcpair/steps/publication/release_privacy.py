"""What of people a release may hold: their pseudonyms, what is withheld of respondents, and a log without persons."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from fcpair.files.release.redaction import Redaction
from fcpair.params import MAIN, Annotate, Note
from fcpair.records import BY, Origin, Role, Round, Rule, RunRecord, Tier
from fcpair.stages.surveys.survey import merge_small_cells
from fcpair.steps.answers.answer_import import DISMISS
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import PLAN, effective_options, load_opaque_ids, options_as_done
from fcpair.steps.corpus.grids import side_from_setting
from fcpair.store import Tx
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids, sides
from fcpair.store.oversight import settings
from fcpair.store.people import people

CONTACT = "contact"
# Stages of which no run is published: each is about single people, or may be.
_ABOUT_PEOPLE = ("people", DISMISS, Note.stage)
_BRINGING = (" import", " withdraw")  # the ends of stages whose runs bring or take the answers of a person or a few
_BEFORE_ANSWERS = (PLAN, "import", "select", "retrieve", "pair", "assign")
_SUMMED = (
    "answers",
    "skips",
    "answers and skips",
    "imported",
    "already_there",
    "controls",
    "earlier",
    "superseded_since",
)
NOT_SAID = "(not said)"
_CODE = 16**10  # 40 bits


class Withheld(NamedTuple):
    """Where answers of respondents are, of which nothing is published but counts of people, whatever the question.

    `rounds`, by the names of grid and round, are answered by respondents, or edit what they wrote; `grids` have such
    texts as a side.
    """

    rounds: frozenset[tuple[str, str]]
    grids: frozenset[str]


def load_withheld(tx: Tx) -> Withheld:
    """Find where the answers of respondents are; a grid can have as a side only what an earlier one has."""
    withheld_rounds, withheld_grids, sources = set[tuple[str, str]](), set[str](), set[str]()
    for key in grids.for_each_grid(tx):
        plan = settings.of_stage(tx, PLAN)
        side_plans = (side_from_setting(plan[name]) for _, name in sides.AXES if plan)
        if any(source in sources for side in side_plans for source in side.grids):
            withheld_grids.add(key.name)
        for round_ in rounds.of_grid(tx):
            if is_survey(round_) or (key.name, round_.options.edits_round) in withheld_rounds:
                withheld_rounds.add((key.name, round_.name))
        if key.name in withheld_grids or (key.name, rounds.primary(tx).name) in withheld_rounds:
            sources.add(key.name)
    return Withheld(frozenset(withheld_rounds), frozenset(withheld_grids))


def is_survey(round_: Round) -> bool:
    """Whether respondents answer a round, so that a release has of it only how many people gave each answer."""
    return round_.role is Role.RESPONDENT


class Pseudonyms:
    """Fresh names of a study's people for one seed: the same whenever they are drawn, and known to nobody without the
    study. Models keep their names. `key` tells which pseudonyms these are; `study_key` which study; `ids` hide numbers.
    """

    def __init__(self, tx: Tx, seed: int) -> None:
        ids, everybody = load_opaque_ids(tx), people.people(tx)
        self.ids = ids
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
    models = [text for run in runs for text in (run.params.get("model"), *(run.model or {}).values())]
    packages = {word for text in models if isinstance(text, str) for word in text.split()}
    return Redaction(names, contacts, {*pseudonyms.models, *packages})


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


class PublicLog(NamedTuple):
    """The log as it is published: its lines, and the number of the line that a run of the study is in."""

    lines: list[dict[str, Any]]
    line_numbers: dict[int, int]


def public_log(tx: Tx, runs: list[RunRecord], redaction: Redaction) -> PublicLog:
    """The log as it is published: what was done to the study, with the day of each, and nothing about single people.

    Neither the number of lines nor their order follows people. Runs about people are left out; those that brought or
    took answers, of which there may be one a person, are a single line for each round; of runs with the same parameters
    only the newest is there, as earlier ones counted what a few people had done by then. So lines have numbers of their
    own. Of a survey only answers and skips are counted, together, as few skips may be one respondent's.
    """
    surveys = {
        (key.name, "" if round_.counts else round_.name)
        for key in grids.for_each_grid(tx)
        for round_ in rounds.of_grid(tx)
        if is_survey(round_)
    }
    lines: dict[str, dict[str, Any]] = {}
    keys: dict[int, str] = {}
    for run in (run for run in runs if run.stage not in _ABOUT_PEOPLE):
        params = redaction.clean({name: value for name, value in run.params.items() if name != BY})
        line = {
            "stage": run.stage,
            "params": params,
            "counts": redaction.clean(_public_counts(run, surveys)),
            "model": redaction.clean(run.model),
            "fcpair": run.version,
            "day": run.at[:10],
        }
        is_bringing = run.stage.endswith(_BRINGING) or "import" in params
        keys[run.id] = key = json.dumps([run.stage, *(_place(run) if is_bringing else [params])])
        earlier = lines.pop(key, None)  # and the line comes behind all others
        lines[key] = _join(earlier, line) if earlier and is_bringing else line
    numbers = {key: number for number, key in enumerate(lines, 1)}
    return PublicLog(
        [{"run": numbers[key], **line} for key, line in lines.items()],
        {run_id: numbers[key] for run_id, key in keys.items()},
    )


def _join(earlier: Mapping[str, Any], line: Mapping[str, Any]) -> dict[str, Any]:
    """Two lines of one round as one: what both have of parameters, and the sums of what they brought."""
    params = {name: value for name, value in line["params"].items() if earlier["params"].get(name, ...) == value}
    names = [name for name in _SUMMED if name in {**earlier["counts"], **line["counts"]}]
    counts = {name: earlier["counts"].get(name, 0) + line["counts"].get(name, 0) for name in names}
    return {**line, "params": params, "counts": counts}


def _public_counts(run: RunRecord, surveys: Collection[tuple[str, str]]) -> Mapping[str, Any]:
    """The counts of a run; of a survey (a round that counts has the name "" there) only what no answer changes."""
    grid, round_name = _place(run)
    if run.stage in _BEFORE_ANSWERS or not {(grid, round_name), (grid, "")} & {*surveys}:
        return run.counts
    return {"answers and skips": run.counts["answers"] + run.counts["skips"]} if "skips" in run.counts else {}


def _place(run: RunRecord) -> tuple[str, str]:
    """The grid and the round that a run is about, as far as it is about a round."""
    values = {**run.params, **run.counts}
    round_name = values.get("round") or run.stage.removesuffix(" import").removesuffix(" withdraw")
    return str(values.get("grid") or MAIN), str(round_name)


def demographic_counts(tx: Tx) -> list[tuple[str, str, int]]:
    """What people said about themselves: question, answer and number of people, in cells of five or more."""
    said = [dict(item["demographics"]) for item in people.terms(tx) if item["role"] != Role.MODEL.value]
    questions = sorted({question for answers in said for question in answers})
    return [
        (question, answer, n)
        for question in questions
        for answer, n in sorted(
            merge_small_cells(Counter(answers.get(question) or NOT_SAID for answers in said)).items()
        )
    ]
