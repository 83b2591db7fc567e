"""The methods section of a paper, written from the tables of a study and the log of its runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from fcpair.errors import InputError, UnknownIdError
from fcpair.files.tables.folders import replace_file
from fcpair.params import MAIN, Agree, MethodsFormat, Partition, Rank
from fcpair.records import BY_HAND, UNDECIDED, Role, Round, RunRecord, Status
from fcpair.report import methods
from fcpair.report.methods import Section
from fcpair.stages.adjudication.partition import tier_rules
from fcpair.stages.questions.labels import tier_obstacle
from fcpair.steps.adjudication.agreement import agreement_counts
from fcpair.steps.answers.ranking import ranking_of
from fcpair.steps.base.context import StudyContext, effective_options, is_planned, labels_of
from fcpair.steps.people.known_pairs import scores
from fcpair.steps.release.block_report import block_notes
from fcpair.steps.release.partition import tiers_of
from fcpair.steps.rules.rule_decisions import policy_that_holds
from fcpair.steps.rules.tallies import split_unanimous, tally
from fcpair.store import Tx, adjudications, people
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells, grids
from fcpair.store.oversight import runs, settings

SUFFIXES: dict[MethodsFormat, str] = {"markdown": ".md", "latex": ".tex"}


@dataclass(frozen=True)
class Methods:
    """The paragraphs of a methods section, the references that they cite, and `notes` on the evaluation."""

    sections: tuple[Section, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def keys(self) -> list[str]:
        """The keys of the references, in the order in which they are cited."""
        return methods.cited_keys(section.text for section in self.sections)

    @property
    def markdown(self) -> str:
        """The paragraphs in Markdown, with citations as Pandoc reads them and a list of references."""
        parts = [f"## {heading}\n\n{text}\n" for heading, text in self.sections]
        if self.keys:
            parts += ["## References", "", *(f"- [@{key}] {methods.reference_line(key)}" for key in self.keys), ""]
        return "\n".join(parts)

    @property
    def latex(self) -> str:
        """The paragraphs in LaTeX, to be included in a document that has `methods.bib` as a bibliography."""
        template = "\\paragraph{{{}.}}\n{}\n"
        return "\n".join(
            template.format(methods.escape_latex(heading), methods.as_latex(text)) for heading, text in self.sections
        )

    @property
    def bib(self) -> str:
        """The references in BibTeX."""
        return methods.bibtex(self.keys)

    def text(self, form: MethodsFormat = "markdown") -> str:
        """The paragraphs in a format."""
        return self.latex if form == "latex" else self.markdown

    def write(self, out: str | Path, form: MethodsFormat | None = None) -> list[Path]:
        """Write the text and its references: to a file `out` (.md or .tex) and a .bib beside it, else into the folder
        `out`.

        Raises InputError for another form than the file's, or a folder in the place of a file, or a file in that of a
        folder.
        """
        place = Path(out)
        form_of_file = next((name for name, suffix in SUFFIXES.items() if suffix == place.suffix.lower()), None)
        if form_of_file and form not in (None, form_of_file):
            raise InputError(f"{place}: a {place.suffix} file holds {form_of_file}, not {form}; expected another name")
        if place.is_dir() if form_of_file else place.exists() and not place.is_dir():
            kind, expected = ("folder", "file") if form_of_file else ("file", "folder")
            raise InputError(f"{place}: there is a {kind} of that name; expected a {expected}")
        form = form_of_file or form or "markdown"
        path = place if form_of_file else place / f"methods{SUFFIXES[form]}"
        path.parent.mkdir(parents=True, exist_ok=True)
        contents = {path: self.text(form), path.with_suffix(".bib"): self.bib}
        for file, content in contents.items():
            with replace_file(file) as temporary:
                temporary.write_text(content, "utf-8", newline="\n")
        return list(contents)


def write_methods(study: StudyContext, *, evaluation: int | None = None) -> Methods:
    """Write the methods section of a paper: what was done, each number as it stands now, and the references.

    Numbers are as `status`, `agreement` and `partition` have them; seeds, models and parameters those of the runs.
    Described is the run `evaluation`, or the newest by the study's own tier rules, if possible by its recipe. Raises
    UnknownIdError where `evaluation` is no run that evaluated the grid `main`.
    """
    with study._store.read() as tx:
        log = runs.runs(tx)
        states = {key.name: _load_state(tx) for key in grids.for_each_grid(tx)}
        with grids.on_first_grid(tx):
            chosen, rules, notes = _choose_evaluation(tx, evaluation)
        return Methods(tuple(methods.write_sections(log, states, chosen, rules)), tuple(notes))


def _load_state(tx: Tx) -> methods.GridState:
    checking = [round_ for round_ in rounds.of_grid(tx) if round_.checks is not None]
    work = [_round_state(tx, round_) for round_ in (*rounds.answer_rounds(tx), *checking)]
    standings = Counter(score["standing"] for score in scores(tx) if score["standing"])
    preparing = [_round_state(tx, round_) for round_ in (*rounds.of_known_pairs(tx), *rounds.calibration_rounds(tx))]
    state = methods.GridState(tuple(work), tuple(preparing), assignments.labels_per_pair(tx), standings)
    state = replace(state, block_notes=block_notes(tx))
    question, agree = labels_of(tx), effective_options(tx, Agree, {})
    has_answers = bool(judgements.answered_cells(tx, rounds.primary(tx)))
    if has_answers and (not is_planned(tx) or settings.with_recipe(tx, Agree.stage)):
        state = replace(state, agree=agree, agreement=agreement_counts(tx, agree))
    if has_answers and cells.has_comparisons(tx):
        state = replace(state, ranking="; ".join(ranking_of(tx, Rank(), rounds.primary(tx)).methods))
    if question is None:
        return state
    standing = tally(tx)
    outcomes = split_unanimous(tx, {rule: n for rule, n in standing.by_rule.items() if rule not in UNDECIDED})
    for (rule, discards), n in adjudications.n_by_rule(tx).items():
        if discards and rule in BY_HAND:
            outcomes[rule] -= n
            outcomes["irreconcilable"] = outcomes.get("irreconcilable", 0) + n
    outcomes["waiting"] = standing.pairs.wait_for_person + standing.pairs.wait_for_policy
    rules = effective_options(tx, Partition, {})
    sizes = {} if tier_obstacle(question) or not has_answers else tiers_of(tx, rules).sizes
    return replace(
        state,
        policy=policy_that_holds(tx),
        outcomes=outcomes,
        n_valid=standing.pairs.valid,
        n_invalid=standing.pairs.not_valid,
        n_lost=standing.n_lost,
        rules=rules,
        tiers=sizes if any(sizes.values()) else {},
    )


def _round_state(tx: Tx, round_: Round) -> methods.RoundState:
    loads, by_status, sources = Counter[int](), Counter[str](), Counter[tuple[str, int | None, str, bool]]()
    models = {person.id: person.name for person in people.people(tx, Role.MODEL)}
    n_blind, is_private = 0, round_.role is Role.RESPONDENT  # a few skips may be one respondent's
    for row in assignments.work_counts(tx, round_):
        by_status[row.status] += row.n
        if row.status in assignments.ACTIVE:
            loads[row.person_id] += row.n
            n_blind += row.n * row.blind
        if row.origin is not None and not (row.skipped and is_private):
            sources[row.origin, row.run_id, models.get(row.person_id, ""), bool(row.skipped)] += row.n
    return methods.RoundState(
        round_,
        loads=tuple(loads.values()),
        n_cells=assignments.n_active_cells(tx, round_),
        n_open=by_status[Status.OPEN],
        n_blind=n_blind,
        n_skipped=0 if is_private else by_status[Status.SKIPPED],
        n_withdrawn=by_status[Status.WITHDRAWN],
        sources=tuple(methods.AnswerSource(*source, n) for source, n in sources.items()),
    )


def _choose_evaluation(tx: Tx, number: int | None) -> tuple[RunRecord | None, dict[str, str], list[str]]:
    """The evaluation to describe, the rules of its tiers that are not the study's own, and notes on the choice."""
    own_rules = {rule.tier: str(rule) for rule in tier_rules(effective_options(tx, Partition, {}))}
    evaluations: dict[int, tuple[RunRecord, dict[str, str]]] = {}
    for run, outcome in runs.outcomes(tx):
        if methods.grid_of(run) == MAIN:
            rules = {tier["tier"]: tier["rule"] for tier in outcome["tiers"]}
            evaluations[run.id] = run, {name: rule for name, rule in rules.items() if rule != own_rules.get(name)}
    ids = ", ".join(map(str, evaluations))
    if number is not None and number not in evaluations:
        raise UnknownIdError(f"run {number} is no evaluation of the grid {MAIN}; expected one of: {ids or 'none yet'}")
    by_own_rules = [run for run, other_rules in evaluations.values() if not other_rules]
    # A recipe's evaluation notes no rules, as it always goes by the study's own.
    by_recipe = [run for run in by_own_rules if "diamond" not in run.params]
    chosen = evaluations[number][0] if number is not None else next(iter([*by_recipe, *by_own_rules]), None)
    if chosen is None:
        hint = f"the runs {ids} went by other rules of tiers than the study's; `--evaluation RUN` describes one of them"
        return None, {}, [f"no evaluation is described, as {hint}"] if evaluations else []
    notes = []
    others = [str(run.id) for run, _ in evaluations.values() if run.options != chosen.options]
    if others and number is None:
        which = "the study's recipe" if by_recipe else "its rules of tiers"
        notes.append(
            f"run {chosen.id} is the evaluation that is described, the newest by {which}; `--evaluation RUN` takes "
            f"another ({', '.join(others)})"
        )
    if runs.is_answered_since(tx, chosen, rounds.of_grid(tx)) or runs.is_decided_since(tx, chosen):
        notes.append(f"run {chosen.id} evaluated before the newest answers or decisions; rerun it when all are in")
    return chosen, evaluations[chosen.id][1], notes
