"""The tables of a release: of a grid of labels its tiers and all that they rest on, of any other its answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from fcpair.files.corpus.corpus import OWN_COLUMNS, OWN_IDS, with_own_ids
from fcpair.files.release.redaction import Redaction
from fcpair.files.release.release_facts import TEXT_DIGEST, ReleaseTable
from fcpair.files.release.tier import (
    ABOUT_OWN_ID,
    CARD_COLUMNS,
    PREFIXES,
    grades,
    pair_frame,
    qrels_text,
    tier_table,
)
from fcpair.files.release.trec_runs import describe_ids
from fcpair.lazy import pd
from fcpair.params import MAIN, Annotate, Ids, Note, Partition
from fcpair.records import BY, GridKey, Origin, Role, Round, Rule, RunRecord, Tier
from fcpair.stages.corpus.text_identity import digest
from fcpair.stages.questions import IRRECONCILABLE, SKIP
from fcpair.stages.questions.labels import final_names, tier_obstacle
from fcpair.stages.questions.text_question import Text
from fcpair.stages.survey import KEPT_COLUMNS, count_respondents, merge_small_cells
from fcpair.steps.answers import answer_tables
from fcpair.steps.answers.answer_import import ANSWERED_AT, DISMISS
from fcpair.steps.base.answer_values import current_form, form_of
from fcpair.steps.base.context import PLAN, effective_options, is_planned, labels_of, load_opaque_ids, options_as_done
from fcpair.steps.base.text_digests import load_text_ids
from fcpair.steps.grids import side_from_setting
from fcpair.steps.release.partition import simulated_cells, tiers_of, with_pair_numbers
from fcpair.store import Tx, adjudications, people
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, grids, sides
from fcpair.store.oversight import settings

PAIRS, LABELS, DECISIONS, VERDICTS, ROWS = "pairs", "labels", "decisions", "verdicts", "rows"
SIDES = ("hs", "cn")
_OWN_IDS = {*OWN_IDS, *OWN_COLUMNS}  # of texts, in tables of pairs and of rows; public, and no names of people
_NAME = "name"  # the kind of a side that is a list of names, such as types
_ABOUT = {
    "pair": "number of the pair",
    "hs_id": "number of the text `hs`",
    "cn_id": "number of the text `cn`",
    "hs_sha256": "the SHA-256 of the text `hs`",
    "cn_sha256": "the SHA-256 of the text `cn`",
    "annotator": "who answered, under a pseudonym",
    "by": "who answered, under a pseudonym, or the name of a model",
    "validator": "who checked, under a pseudonym",
    "origin": "where the answer came from: imported, online, simulated or generated",
    "rule": "by which rule it was decided",
    "tier": "the best tier of the pair; empty where it is in none",
    "own_tiers": "the tiers of the study's own that the pair is in",
    "n_labels": "how many people labelled the pair",
    "cell": "number of the cell",
    "row": "the text of the row",
    "row_number": "number of the row",
    "column": "the text or the name of the column",
    "skipped": "whether it was skipped",
    "answered": "the text that the row answers",
    "source": "where the row came from: the name of a file or a model, or `people`",
    "written_as": "the column for which the row was written",
    "group": "the group of the row",
    "language": "the language of the row",
    "marks": "what was odd about the reply of the model; empty where nothing was",
    "act": "what was done with the text that was given: accepted, edited or rejected",
    "words_changed": "how many words of it were changed",
    "characters_changed": "how many characters of it were changed",
    "original": "the text that was given to be edited",
    "people": "how many people answered so",
    "answer": "the answer",
    **dict.fromkeys((*OWN_IDS, "row.hs_id", "column.cn_id"), ABOUT_OWN_ID),
}
_EVIDENCE: dict[str, tuple[str, dict[str, str]]] = {
    PAIRS: (
        "Every pair with a label, in a tier or in none.",
        {
            "label": "the final label; empty where there is none",
            "verdict": "whether validators agreed with it: `valid` or `not valid`; empty where none has said so yet",
        },
    ),
    LABELS: ("The current answer of each annotator on each pair.", {"label": f"the answer, or `{SKIP}`"}),
    DECISIONS: (
        "The decision that stands on each pair.",
        {
            "decision": f"the label that was decided, or `{IRRECONCILABLE}`",
            "by": "who decided, under a pseudonym; empty for a rule",
        },
    ),
    VERDICTS: (
        "The verdict of each validator on the label of each pair.",
        {"verdict": "what was said of the label: `agree` or `disagree`"},
    ),
}
"""Of each table that tiers rest on, what it holds and what some of its columns do."""


class GridTables:
    """The tables of the grid that a transaction is about: a survey has no tiers, and a withheld grid no tables."""

    def __init__(
        self, tx: Tx, key: GridKey, pseudonyms: Pseudonyms, withheld: Withheld, ids: Ids | None = None
    ) -> None:
        self._tx, self._pseudonyms, self._withheld, self._ids = tx, pseudonyms, withheld, ids
        self.described_ids = ""  # says which ids the qrels have
        self.prefix = "" if key.name == MAIN else f"{key.name}-"
        self.key = key
        self._question, primary = labels_of(tx), rounds.primary(tx)
        is_public = key.name not in withheld.grids and (key.name, primary.name) not in withheld.rounds
        has_tiers = self._question is not None and not tier_obstacle(self._question) and is_public
        self._texts = cells.texts_of_grid(tx)
        side_kinds = zip(("hs_id", "cn_id"), grids.side_kinds(tx), sides.AXES, strict=True)
        self._numbers = {  # the places of written texts on their side, by the column of their ids
            name: {text_id: number for number, text_id in enumerate(sides.text_ids(tx, axis), 1)}
            for name, kind, (axis, _) in side_kinds
            if kind == rounds.WRITTEN
        }
        has_tiers = has_tiers and bool(judgements.answered_cells(tx, primary))
        self.tiers = tiers_of(tx, effective_options(tx, Partition, {})) if has_tiers else None

    def tables(self) -> Iterator[ReleaseTable]:
        """Every table that has a row."""
        every = [*self._tier_tables(), *self._evidence_tables(), *self._round_tables()]
        return (table for table in every if len(table.rows))

    def qrels(self) -> dict[str, str]:
        """Each tier that has a pair as TREC qrels, by its name."""
        if self.tiers is None:
            return {}
        ids, used = load_text_ids(self._tx), self.tiers.pairs[self.tiers.pairs["tiers"] > 0]
        own = [(side, f"{side}_id") for side in SIDES if f"{side}_id" not in self._numbers]
        words = {side: ids[side].words(used[column], side, self._ids) for side, column in own}
        self.described_ids = describe_ids(ids, self._ids)
        by_tier = ((rule, self._renumbered(self.tiers.in_tier(rule.tier))) for rule in self.tiers.rules)
        return {
            f"{self.prefix}{rule.tier}": qrels_text(grades(pairs, self.tiers.question, set(pairs["cn_id"])), words)
            for rule, pairs in by_tier
            if len(pairs)
        }

    def _tier_tables(self) -> Iterator[ReleaseTable]:
        tiers = self.tiers
        if tiers is None:
            return
        labels = judgements.current_labels(self._tx, "cell_id", "annotator", "code", "origin")
        labels = labels.assign(annotator=labels["annotator"].map(self._pseudonyms.replace))
        simulated = simulated_cells(labels, judgements.current_verdicts(self._tx, "cell_id", "origin"))
        names = zip(SIDES, grids.side_names(self._tx), strict=True)
        words = {**dict(names), "labels": ", ".join(f"`{name}`" for name in final_names(tiers.question))}
        for rule in tiers.rules:
            pairs = tiers.in_tier(rule.tier).reset_index(drop=True)
            is_simulated = pairs["cell_id"].isin(simulated)
            of_tier = labels[labels["cell_id"].isin(pairs["cell_id"])]
            numbered = with_pair_numbers(pairs), with_pair_numbers(of_tier)
            rows = tier_table(*numbered, self._texts, tiers.question, tiers.rules, self._ids)
            rows = self._without_names(self._renumbered(rows).assign(simulated=is_simulated), ("hs.", "cn."))
            metadata = [name for name in rows.columns if name.startswith(("hs.", "cn.")) and name not in _OWN_IDS]
            about = f"The pairs of the tier {rule.tier}."
            columns = {}
            for column in map(str, rows.columns):
                by_prefix = next((of for prefix, of in PREFIXES.items() if column.startswith(prefix)), column)
                columns[column] = CARD_COLUMNS.get(column, by_prefix).format(**words)
            name = f"{self.prefix}{rule.tier}"
            yield ReleaseTable(name, rows, about, columns, SIDES, metadata, tier=rule.tier, rule=str(rule))

    def _evidence_tables(self) -> Iterator[ReleaseTable]:
        if self.tiers is None or self._question is None:
            return
        bodies = self._texts.set_index("text_id")["body"].map(digest)
        rows = pair_frame(with_pair_numbers(self.tiers.pairs), self.tiers.question, self.tiers.rules)
        for at, side in enumerate(SIDES, 3):
            rows.insert(at, f"{side}{TEXT_DIGEST}", rows[f"{side}_id"].map(bodies))
        rows = with_own_ids(rows, self._texts, before=[f"{side}{TEXT_DIGEST}" for side in SIDES], ids=self._ids)
        yield self._table(PAIRS, self._renumbered(rows.fillna({"label": "", "tier": ""})))
        answers = judgements.current_answers(
            self._tx, rounds.primary(self._tx), "cell_id", "annotator", "code", "skipped", "origin"
        )
        names = {choice.code: choice.name for choice in self._question}
        rows = answers[[]].assign(
            pair=grids.to_public_number(answers["cell_id"]),
            annotator=answers["annotator"].map(self._pseudonyms.replace),
            label=answers["code"].astype("Int64").map(names).astype(object).where(~answers["skipped"], SKIP),
            origin=answers["origin"],
        )
        yield self._table(LABELS, _sorted(rows, "pair", "annotator"))
        columns = ("cell_id", "rule", "code", "person_id")
        decisions = adjudications.current_adjudications(self._tx, *columns, standing=True)
        decided = decisions["code"].map(self._question.name, na_action="ignore").astype(object)
        rows = decisions[[]].assign(
            pair=grids.to_public_number(decisions["cell_id"]),
            decision=decided.where(decided.notna(), IRRECONCILABLE),
            rule=decisions["rule"],
            by=decisions["person_id"].map(self._pseudonyms.by_id).astype(object).fillna(""),
        )
        yield self._table(DECISIONS, rows)
        verdicts = judgements.current_verdicts(self._tx, "cell_id", "person_id", "code", "origin")
        rows = verdicts[[]].assign(
            pair=grids.to_public_number(verdicts["cell_id"]),
            validator=verdicts["person_id"].map(self._pseudonyms.by_id),
            verdict=verdicts["code"].map({1: "agree", 0: "disagree"}),
            origin=verdicts["origin"],
        )
        yield self._table(VERDICTS, _sorted(rows, "pair", "validator"))

    def _renumbered(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Rows in which written texts have numbers of their own: their ids are in the order in which people wrote."""
        return rows.assign(**{name: rows[name].map(numbers) for name, numbers in self._numbers.items()})

    def _round_tables(self) -> Iterator[ReleaseTable]:
        """Of a planned grid its rows and, round by round, its answers; of a survey only how many people gave them."""
        if not is_planned(self._tx) or not len(self._texts) or self.key.name in self._withheld.grids:
            return
        rows = answer_tables.rows_table(self._tx, self.key.name)
        rows = rows.drop(columns=[name for name in OWN_COLUMNS if self._ids == "study" and name in rows.columns])
        metadata = [str(name) for name in rows.columns if name not in (answer_tables.ROW, answer_tables.ROW_NUMBER)]
        rows = self._without_names(rows, tuple(metadata)) if metadata else rows
        # with `ask results --keep`, counts of fewer than five people could be had
        rows = rows.drop(columns=list(KEPT_COLUMNS if set(KEPT_COLUMNS) <= set(metadata) else ()))
        metadata = [name for name in metadata if name in rows.columns]
        about = {name: "metadata of the row" for name in metadata if name != answer_tables.LANGUAGE}
        about |= dict.fromkeys(OWN_COLUMNS, ABOUT_OWN_ID)
        metadata = [name for name in metadata if name not in _OWN_IDS]
        rows, text = rows.reset_index(drop=True), f"The rows of the grid {self.key.name}, with their metadata."
        columns = _columns(rows, about)
        yield ReleaseTable(f"{self.prefix}{ROWS}", rows, text, columns, (answer_tables.ROW,), metadata, is_side=True)
        for round_ in rounds.answer_rounds(self._tx):
            name = f"{self.prefix}{round_.name}"
            if is_survey(round_):
                yield from self._survey_tables(round_, name)
            elif (self.key.name, round_.name) not in self._withheld.rounds:
                form, rows = form_of(round_.form), answer_tables.answers_table(self._tx, round_, self._ids)
                own = {*answer_tables.EXTRA_COLUMNS, ANSWERED_AT} - {"origin", *form.table}
                rows = rows.drop(columns=[column for column in rows.columns if column in own])
                rows = rows.assign(by=rows["by"].map(self._pseudonyms.replace))
                written = [question for question, asked in form.questions if isinstance(asked, Text)]
                shown = [answer_tables.ROW] if grids.side_kinds(self._tx)[1] == _NAME else [answer_tables.ROW, "column"]
                shown += ["answered", answer_tables.ORIGINAL, *written]
                texts = [column for column in shown if column in rows.columns]
                text = f"Answers in the round {round_.name} of the grid {self.key.name}: {current_form(round_)}"
                about = {column: f"the answer to `{question}`" for column, question in form.table.items()}
                yield ReleaseTable(name, _sorted(rows, "cell", "by"), text, _columns(rows, about), texts)

    def _survey_tables(self, round_: Round, name: str) -> Iterator[ReleaseTable]:
        """Numbers of respondents who gave each answer, in cells of five or more; their own words are not published."""
        form, rows = form_of(round_.form), answer_tables.answers_table(self._tx, round_)
        names = [name for name, _ in form.questions]
        counts_by_place = {}
        for place, group in rows.groupby(["row", "column"], sort=False):
            answers = [
                None if skipped else dict(zip(names, said, strict=True))
                for skipped, *said in group[["skipped", *names]].itertuples(index=False, name=None)
            ]
            counts_by_place[place] = count_respondents(form, answers)
        for question, asked in form.questions:
            counts = [
                (*place, answer, n)
                for place, by_question in counts_by_place.items()
                for answer, n in sorted(by_question.get(question, {}).items())
            ]
            frame = pd.DataFrame(counts, columns=["row", "column", "answer", "people"])
            about = f"How many respondents of the grid {self.key.name} gave each answer: {asked}"
            yield ReleaseTable(f"{name}-{question}", frame, about, _columns(frame), (answer_tables.ROW,))

    def _table(self, name: str, rows: pd.DataFrame) -> ReleaseTable:
        about, about_columns = _EVIDENCE[name]
        return ReleaseTable(f"{self.prefix}{name}", rows.reset_index(drop=True), about, _columns(rows, about_columns))

    def _without_names(self, rows: pd.DataFrame, prefixes: tuple[str, ...]) -> pd.DataFrame:
        metadata = [name for name in rows.columns if str(name).startswith(prefixes) and name not in _OWN_IDS]
        return rows.assign(**{name: rows[name].map(self._pseudonyms.replace) for name in metadata})


def _sorted(rows: pd.DataFrame, *names: str) -> pd.DataFrame:
    return rows.sort_values(list(names), kind="stable").reset_index(drop=True)


def _columns(rows: pd.DataFrame, about: Mapping[str, str] = MappingProxyType({})) -> Mapping[str, str]:
    known = {**_ABOUT, **about}
    return {str(name): known.get(str(name), "metadata of that name") for name in rows.columns}


# Stages of which no run is published: each is about single people, or may be.
_ABOUT_PEOPLE = ("people", DISMISS, Note.stage)
_BRINGING = (" import", " withdraw")  # the ends of stages whose runs bring or take the answers of a person or a few
_BEFORE_ANSWERS = (PLAN, "import", "select", "retrieve", "pair", "assign")
_SUMMED = (
    *("answers", "skips", "answers and skips", "imported", "already_there", "controls", "earlier", "superseded_since"),
)
_CODE = 16**10  # 40 bits


class Withheld(NamedTuple):
    """Rounds and grids with what respondents answered, of which only counts of people are published.

    `rounds`, by the names of grid and round, are answered by respondents, or edit that; `grids` have it as a side.
    """

    rounds: frozenset[tuple[str, str]]
    grids: frozenset[str]


def load_withheld(tx: Tx) -> Withheld:
    """Find where the answers of respondents are; a grid can have as a side only what an earlier one has."""
    withheld_rounds, withheld_grids, sources = set[tuple[str, str]](), set[str](), set[str]()
    for key in grids.for_each_grid(tx):
        plan = settings.of_stage(tx, PLAN)
        side_plans = (side_from_setting(plan[name]) for _, name in sides.AXES if plan)
        if any(source in sources for side in side_plans for source in side.rests_on):
            withheld_grids.add(key.name)
        for round_ in rounds.of_grid(tx):
            if is_survey(round_) or (key.name, round_.options.edits_round) in withheld_rounds:
                withheld_rounds.add((key.name, round_.name))
        if key.name in withheld_grids or (key.name, rounds.primary(tx).name) in withheld_rounds:
            sources.add(key.name)
    return Withheld(frozenset(withheld_rounds), frozenset(withheld_grids))


def is_survey(round_: Round) -> bool:
    """Return whether respondents answer a round, so that a release has of it only how many people gave each answer."""
    return round_.role is Role.RESPONDENT


class Pseudonyms:
    """Fresh names of a study's people for one seed, known to nobody without the study; models keep theirs.

    `key` tells which pseudonyms these are; `study_key` which study; `ids` hide numbers.
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
    contacts = {term.contact for term in terms} | {str(run.params.get("contact", "")) for run in runs}
    # The words of the study's own files: a pseudonym in the place of one would tell who is behind it, and whoever is
    # called by one, as FC-CONAN's one validator, is not told by it.
    words: set[str] = {*Role, *Rule, *Origin, *(tier.label for tier in Tier)}
    for key in grids.for_each_grid(tx):
        words |= {key.name, *grids.side_names(tx)}
        for round_ in rounds.of_grid(tx):
            words.add(round_.name)
            for name, question in form_of(round_.form).questions:
                words.add(name)
                for part in question.parts():
                    words |= {part.name, *(choice.name for choice in part.question)}
    names = {name: fresh for name, fresh in pseudonyms.by_name.items() if name not in words}
    models = [text for run in runs for text in (run.params.get("model"), *(run.model or {}).values())]
    packages = {word for text in models if isinstance(text, str) for word in text.split()}
    return Redaction(names, contacts, {*pseudonyms.models, *packages})


def public_log(tx: Tx, runs: list[RunRecord], redaction: Redaction) -> tuple[list[dict[str, Any]], dict[int, int]]:
    """The lines of the log as it is published, and the number of the line that each run of the study is in.

    Nothing is about single people, and neither the number of lines nor their order follows them: runs about people are
    left out, those that brought or took answers are one line for each round, and of runs with the same parameters only
    the newest is there. Of a survey only answers and skips are counted, together, as few skips may be one respondent's.
    """
    surveys = {  # a round that counts has the name "" there
        (key.name, "" if round_.counts else round_.name)
        for key in grids.for_each_grid(tx)
        for round_ in rounds.of_grid(tx)
        if is_survey(round_)
    }
    lines: dict[str, dict[str, Any]] = {}
    keys: dict[int, str] = {}
    for run in (run for run in runs if run.stage not in _ABOUT_PEOPLE):
        params = redaction.clean({name: value for name, value in run.params.items() if name != BY})
        values = {**run.params, **run.counts}
        round_name = values.get("round") or run.stage.removesuffix(" import").removesuffix(" withdraw")
        counts, place = run.counts, (str(values.get("grid") or MAIN), str(round_name))  # as far as it is about a round
        if run.stage not in _BEFORE_ANSWERS and {place, (place[0], "")} & surveys:  # only what no answer changes
            counts = {"answers and skips": counts["answers"] + counts["skips"]} if "skips" in counts else {}
        line = {
            "stage": run.stage,
            "params": params,
            "counts": redaction.clean(counts),
            "model": redaction.clean(run.model),
            "fcpair": run.version,
            "day": run.at[:10],
        }
        is_bringing = run.stage.endswith(_BRINGING) or "import" in params
        keys[run.id] = key = json.dumps([run.stage, *(place if is_bringing else [params])])
        earlier = lines.pop(key, None)  # and the line comes behind all others
        if earlier and is_bringing:  # one line has what both have of parameters, and the sums of what they brought
            common = {name: value for name, value in params.items() if earlier["params"].get(name, ...) == value}
            names = [name for name in _SUMMED if name in {**earlier["counts"], **line["counts"]}]
            sums = {name: earlier["counts"].get(name, 0) + line["counts"].get(name, 0) for name in names}
            line |= {"params": common, "counts": sums}
        lines[key] = line
    numbers = {key: number for number, key in enumerate(lines, 1)}
    numbered = [{"run": numbers[key], **line} for key, line in lines.items()]
    return numbered, {run_id: numbers[key] for run_id, key in keys.items()}


def demographic_counts(tx: Tx) -> list[tuple[str, str, int]]:
    """Counts of what people said about themselves: question, answer and number of people, in cells of five or more."""
    by_person = [dict(item["demographics"]) for item in people.terms(tx) if item["role"] != Role.MODEL.value]
    return [
        (question, answer, n)
        for question in sorted({question for answers in by_person for question in answers})
        for by_answer in [Counter(answers.get(question) or "(not said)" for answers in by_person)]
        for answer, n in sorted(merge_small_cells(by_answer).items())
    ]
