"""Study: the public API. One method per stage, one transaction each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fcpair.errors import StudyError
from fcpair.evaluate.outcome import Outcome
from fcpair.evaluate.ranking import Cost
from fcpair.files.sheets import Form
from fcpair.label import scheme_record
from fcpair.models.encode import Progress
from fcpair.params import (
    Adjudicate,
    Agree,
    Annotate,
    Assign,
    Evaluate,
    Import,
    Pair,
    Partition,
    Retrieve,
    Select,
    Setup,
    Simulate,
    Validate,
    as_params,
)
from fcpair.recipe import Recipe
from fcpair.records import (
    Agenda,
    Conflict,
    DryRun,
    Explanation,
    Health,
    OldSheet,
    Person,
    Role,
    Round,
    RunRecord,
    Scheme,
    Tier,
)
from fcpair.stages.agree import Agreement
from fcpair.stages.partition import as_tier
from fcpair.steps import (
    adjudicate,
    agree,
    assign,
    conflicts,
    doctor,
    evaluate,
    guide,
    import_,
    label,
    overview,
    pair,
    partition,
    people,
    published,
    report,
    retrieve,
    select,
    sheets,
    simulate,
    validate,
    walk,
    withdraw,
)
from fcpair.steps.access import Access
from fcpair.steps.desk import Desk
from fcpair.steps.docket import Case, Decided, Docket, Ruling
from fcpair.steps.export import Exports
from fcpair.steps.ground import Options, has_own, note_run, own, scheme_of
from fcpair.steps.monitor import Monitor
from fcpair.steps.partition import Tiers
from fcpair.steps.settle import settle_older
from fcpair.steps.topup import deal_more
from fcpair.store import Store, Tx, grids, private, runs

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Access", "Case", "Decided", "Desk", "Docket", "Monitor", "Ruling", "Study"]


class Study:
    """A study in its file.

    Methods that change the study return the RunRecord that they leave, with what they counted. All raise StageError
    when they are called too early or a second time, InputError for what is wrong with their input (and then leave the
    study as it was), StudyError when the file cannot be read or written. `redo` makes a stage anew together with all
    that was built on it; judgements are never discarded.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @classmethod
    def create(cls, path: str | Path, setup: Setup | None = None) -> Study:
        """Make a new study at `path`.

        Raises:
            StudyError: something is there, or the guidelines cannot be read.
            InputError: the guidelines are too long.
        """
        setup = setup or Setup()
        guidelines = _read_text(setup.guidelines) if setup.guidelines else ""
        guide.check_length(guidelines)

        def fill(tx: Tx) -> None:
            runs.add_study(tx, setup.title, guidelines, setup.hs_name, setup.cn_name)
            grids.add_grid(tx, scheme_record(setup.scheme))
            note_run(tx, setup.stage, as_params(setup), {})

        return cls(Store.create(Path(path), fill))

    @classmethod
    def open(cls, path: str | Path) -> Study:
        """Open the study at `path`; raises StudyError when there is none that this fcpair can read."""
        return cls(Store.open(Path(path)))

    @classmethod
    def upgrade(cls, path: str | Path) -> Path | None:
        """Bring a study that an older fcpair made up to date, and keep a copy of it as it was.

        Returns the copy, None where there was nothing to do. Raises StudyError when the file cannot be upgraded; it is
        as it was then.
        """
        return Store.upgrade(Path(path), settle_older)

    @staticmethod
    def doctor(path: str | Path, *, progress: Progress | None = None) -> Health:
        """Say what was changed, lost or added in a study behind fcpair's back, and whether its promises hold.

        It need not be one that can be opened. Raises StudyError when there is none, or one of another schema.
        """
        return doctor.examine(Path(path), progress)

    @classmethod
    def accept(cls, path: str | Path) -> dict[str, int] | None:
        """Take a file that lost its log, or that is put together of two, as it is: what it has is all that there is.

        Returns how many rows of each table are known to be missing, which the run log has as `accept`; None, and
        nothing is done, where the file is as it was written. Raises StudyError for a file that is damaged, or beside
        which another one's log lies.
        """
        return Store.accept(Path(path), lambda tx, missing: note_run(tx, "accept", {}, {"missing": missing}))

    def examine(self) -> None:
        """Raise StudyError where the file is damaged, or put together of a file and a log of different times.

        That reads all of it.
        """
        self._store.examine()

    @property
    def exposed(self) -> str | None:
        """A sentence that says that others on this machine may read the study's file; None where they may not."""
        return private.exposed(self._store.place)

    @property
    def place(self) -> str:
        """The file of the study."""
        return self._store.place

    @property
    def scheme(self) -> Scheme:
        """The label scheme."""
        with self._store.read() as tx:
            return scheme_of(tx)

    @property
    def facts(self) -> dict[str, str]:
        """What the study is: `title`, `guidelines`, `hs_name`, `cn_name`, `created_at`."""
        with self._store.read() as tx:
            return runs.study_facts(tx)

    def share(self) -> None:
        """Let many read while one writes, as long as the study is served; `close` ends it."""
        self._store.share()

    def close(self) -> None:
        """Let go of the file, and make it one file again after `share`."""
        self._store.close()

    def remove(self) -> None:
        """Delete the study's file, as it was opened or made here."""
        self._store.remove()

    @property
    def access(self) -> Access:
        """Who may come in, and on what terms: `invite`, `revoke`, `by_token`, `consent`, `opt_out`."""
        return Access(self._store)

    def desk(self, annotate: Annotate) -> Desk:
        """The work of those who answer online: `tasks`, `submit`, `answers`, `progress`."""
        return Desk(self._store, annotate)

    @cached_property
    def docket(self) -> Docket:
        """The work of those who adjudicate online: `next`, `decide`, `undo`, `decided`; it keeps the list."""
        return Docket(self._store)

    @cached_property
    def monitor(self) -> Monitor:
        """What the lead sees while the study is on its way; it keeps what is slow to make."""
        return Monitor(self._store)

    @property
    def guidelines(self) -> tuple[int, str]:
        """The number and the Markdown of the guidelines that hold."""
        return guide.current(self._store)

    def guideline_versions(self) -> list[dict[str, Any]]:
        """Every version of the guidelines; see `steps.guide.versions` for the keys."""
        return guide.versions(self._store)

    def edit_guidelines(self, body: str, *, by: str, seen: int | None = None) -> RunRecord:
        """Let a new version of the guidelines hold from now on; `by` is a person of the study.

        `seen` is the version that was edited; ConflictError is raised where another holds by now.
        """
        return guide.edit(self._store, body, by, seen)

    def import_corpus(self, options: Import, *, redo: bool = False) -> RunRecord:
        """Read the corpus: the source pairs that the study starts from."""
        return import_.import_corpus(self._store, options, redo=redo)

    def select(self, options: Select, *, redo: bool = False) -> RunRecord:
        """Choose the HS."""
        return select.select(self._store, options, redo=redo)

    def retrieve(self, options: Retrieve, *, redo: bool = False, progress: Progress | None = None) -> RunRecord:
        """Bring candidates in by SBERT retrieval; raises ModelError when the model cannot be had."""
        return retrieve.bring_in(self._store, options, redo=redo, progress=progress)

    def pair(self, options: Pair, *, redo: bool = False) -> RunRecord:
        """Make the grid: selected HS x candidates, less the corpus."""
        return pair.make_grid(self._store, options, redo=redo)

    def add_people(self, names: list[str], role: Role) -> list[Person]:
        """Add people under pseudonyms."""
        return people.add(self._store, names, role)

    @property
    def people(self) -> list[Person]:
        """Everybody who takes or took part."""
        return people.everybody(self._store)

    def change_role(self, name: str, role: Role) -> RunRecord:
        """Give a person another role; raises UnknownIdError when there is nobody of that name."""
        return people.change_role(self._store, name, role)

    def retire(self, name: str, *, seed: int = 0) -> RunRecord:
        """Let a person go; open work goes to others, what they did stays."""
        return people.retire(self._store, name, seed=seed)

    def hand_over(self, name: str, to: str | None = None, *, seed: int = 0) -> RunRecord:
        """Give a person's open work to `to`, or to all others in their role."""
        return people.hand_over(self._store, name, to, seed=seed)

    def assign(self, options: Assign, *, redo: bool = False, more: bool = False) -> RunRecord:
        """Deal the grid to annotators in overlapping shards; `more` adds to what has been dealt (`deal_more`)."""
        return deal_more(self._store, options) if more else assign.assign(self._store, options, redo=redo)

    def write_sheets(self, folder: str | Path, form: Form = "csv") -> dict[str, int]:
        """Write each annotator's open shard as a sheet to fill in; returns the rows by annotator.

        A file that holds answers or notes is never overwritten; `old_sheets` has what was kept.
        """
        return sheets.write_sheets(self._store, folder, form)

    def old_sheets(self, folder: str | Path, round_: Round = Round.LABEL) -> list[OldSheet]:
        """The sheets in a folder that are kept as they are, and why, or are of somebody who left."""
        return sheets.old_sheets(self._store, folder, round_)

    def import_labels(self, path: str | Path, *, supersede: bool = False) -> RunRecord:
        """Record labels from a file; `supersede` lets a different label replace an earlier one as the current one."""
        return label.import_labels(self._store, path, supersede=supersede)

    def import_published(self, path: str | Path) -> RunRecord:
        """Record a published FC-CONAN partition: labels, final labels, verdicts; an empty study gets its grid too."""
        return published.import_published(self._store, path)

    def withdraw_labels(self, run: int) -> RunRecord:
        """Take the labels back that a run brought, as a whole; `import_labels` and `simulate` return its `id`."""
        return withdraw.withdraw(self._store, run, Round.LABEL)

    def labels(self) -> pd.DataFrame:
        """Every annotator's current answer; see `steps.record.export_labels` for the columns."""
        return label.export_labels(self._store)

    def simulate(self, options: Simulate) -> RunRecord:
        """Let simulated people answer whatever round is open."""
        return simulate.simulate(self._store, options)

    def own(self, cls: type[Options], **given: Any) -> Options:
        """The study's own Partition, Annotate, ..., as its settings have them, with what is given in their place."""
        with self._store.read() as tx:
            return own(tx, cls, given)

    def has_own(self, cls: type[Options]) -> bool:
        """Whether options of this kind were ever set; `own` gives the defaults where they were not."""
        with self._store.read() as tx:
            return has_own(tx, cls)

    def agreement(self, options: Agree | None = None) -> Agreement:
        """Measure agreement before adjudication; with the study's own options when none are given."""
        return agree.measure_agreement(self._store, options or self.own(Agree))

    def adjudicate(self, options: Adjudicate) -> RunRecord:
        """Decide what the policy decides; it holds from now on, and the decisions follow the labels."""
        return adjudicate.adjudicate(self._store, options)

    def adjudicate_dry_run(self, options: Adjudicate) -> DryRun:
        """Say what `adjudicate` would do, and how that compares with what stands; change nothing."""
        return adjudicate.dry_run(self._store, options)

    @property
    def policy(self) -> Adjudicate | None:
        """The policy that holds, by which decisions follow the labels; None before one has been set."""
        return adjudicate.policy(self._store)

    def waiting(self) -> list[int]:
        """The pairs that wait for an adjudicator, by number."""
        return adjudicate.waiting_pairs(self._store)

    def second_looks(self) -> list[int]:
        """The pairs that somebody decided before their labels changed, by number."""
        return adjudicate.second_looks(self._store)

    def agenda(self, by: str) -> Agenda:
        """What one person, or somebody new, can decide now, and what waits for others or for labels."""
        return adjudicate.agenda(self._store, by)

    def conflict(self, pair_id: int, *, by: str | None = None) -> Conflict:
        """What an adjudicator sees of a pair that waits, or that `by` has decided.

        Raises UnknownIdError when there is none of that number, RefusedError when `by` labelled or validates it or has
        reached a limit (LimitError), and ConflictError when it is not yet, or not any more, a case to decide.
        """
        return adjudicate.conflict(self._store, pair_id, by)

    def decide(self, pair_id: int, code: int | None, *, by: str, note: str = "", seen: Conflict | None = None) -> None:
        """Record a person's decision on a pair; None discards it as irreconcilable.

        With the conflict that was `seen`, ConflictError is raised if its labels or its decision have changed since.
        Raises RefusedError when `by` labelled or validates the pair or has reached a limit (LimitError), ConflictError
        while it is still being labelled.
        """
        adjudicate.decide_by_person(self._store, pair_id, code, by, note, seen)

    def take_back(self, pair_id: int, *, by: str) -> bool:
        """Take one's own decision on a pair back, or as lead anybody's; the pair waits again, unless a rule decides it
        or somebody else's decision had been replaced, which then stands again. Returns whether one does.

        Raises ConflictError when there is no such decision.
        """
        return adjudicate.take_back(self._store, pair_id, by)

    def write_conflicts(self, path: str | Path, *, by: str) -> int:
        """Write the pairs that wait for `by` as a sheet (.csv, .xlsx) to fill in, and import with `import_outcomes`."""
        return conflicts.write_conflicts(self._store, path, by)

    def import_outcomes(self, path: str | Path, *, supersede: bool = False) -> RunRecord:
        """Record decisions that were made elsewhere; `supersede` lets them replace other decisions by hand."""
        return adjudicate.import_outcomes(self._store, path, supersede=supersede)

    def assign_validation(self, options: Validate, *, redo: bool = False, more: bool = False) -> RunRecord:
        """Deal adjudicated pairs to validators who took no part in them; `more` adds pairs to a round under way."""
        return validate.assign_validation(self._store, options, redo=redo, more=more)

    def write_validation_sheets(self, folder: str | Path, form: Form = "csv") -> dict[str, int]:
        """Write each validator's open pairs as a sheet, as `write_sheets` does; returns the rows by validator."""
        return sheets.write_validation_sheets(self._store, folder, form)

    def import_verdicts(self, path: str | Path, *, supersede: bool = False) -> RunRecord:
        """Record verdicts from a file."""
        return label.import_verdicts(self._store, path, supersede=supersede)

    def withdraw_verdicts(self, run: int) -> RunRecord:
        """Take the verdicts back that a run brought, as a whole."""
        return withdraw.withdraw(self._store, run, Round.VALIDATE)

    def partition(self, options: Partition | None = None) -> Tiers:
        """Derive Diamond, Gold, Silver and Bronze; by the study's own rules when no options are given."""
        return partition.partition(self._store, options or self.own(Partition))

    def tier(self, tier: Tier | str, options: Partition | None = None, *, published: bool = False) -> pd.DataFrame:
        """The pairs of a tier (`Tier.GOLD`, or its name, `"gold"`), as `release` writes them."""
        return partition.tier_rows(self._store, as_tier(tier), options or self.own(Partition), published=published)

    def tier_start(
        self, tier: Tier | str, first: int | None, options: Partition | None = None, *, published: bool = False
    ) -> tuple[pd.DataFrame, int]:
        """The first pairs of a tier, all for None, as `tier` has them, and how many there are in all."""
        rules = options or self.own(Partition)
        return partition.tier_start(self._store, as_tier(tier), rules, first, published=published)

    def release(
        self, tier: Tier | str, path: str | Path, options: Partition | None = None, *, published: bool = False
    ) -> RunRecord:
        """Write a tier to a file (.csv, .jsonl, .parquet) and note its rule, counts and content hash."""
        return partition.release(self._store, as_tier(tier), path, options or self.own(Partition), published=published)

    def explain(self, pair_id: int, options: Partition | None = None) -> Explanation:
        """Say why a pair is where it is; raises UnknownIdError when there is none of that number."""
        return partition.explain(self._store, pair_id, options or self.own(Partition))

    @property
    def export(self) -> Exports:
        """Files for the tools people have: `study.export.qrels(path, tier)`, `beir`, `hf`, `training`, `corpus`."""
        return Exports(self._store)

    def evaluate(
        self,
        options: Evaluate,
        partition: Partition | None = None,
        *,
        runs: Path | None = None,
        figures: Path | None = None,
        progress: Progress | None = None,
    ) -> Outcome:
        """Evaluate retrieval systems on the tiers, and note what was found; see `steps.evaluate.run_evaluation`.

        `runs` and `figures` are folders for TREC runs and for pictures.
        """
        rules = partition or self.own(Partition)
        return evaluate.run_evaluation(self._store, options, rules, runs=runs, figures=figures, progress=progress)

    def evaluation_costs(self, options: Evaluate, partition: Partition | None = None) -> list[tuple[str, Cost]]:
        """What each system of an evaluation would ask of a service, without asking."""
        return evaluate.costs(self._store, options, partition or self.own(Partition))

    def walk(self, recipe: Recipe, *, progress: Progress | None = None, loosen: bool = False) -> Iterator[RunRecord]:
        """Run a recipe from the first stage that is not done; ends where people have to act, or at the end.

        Raises RecipeError before anything is done where the study is not what the recipe says, and RecipeEndError,
        after what could be done, where the recipe has no section for the stage that comes next. Only to `loosen` does
        a recipe take back limits that the study has.
        """
        return walk.walk(self._store, recipe, progress, loosen=loosen)

    @property
    def simulated(self) -> str | None:
        """A sentence that says how much of the study is made up; None where nothing is."""
        return overview.simulated(self._store)

    @property
    def look_again(self) -> list[str]:
        """Sentences on decisions and verdicts whose labels have changed since; none where all is as it was."""
        return overview.look_again(self._store)

    def status(self) -> dict[str, Any]:
        """The study at a glance; see `steps.overview.status` for the keys."""
        return overview.status(self._store)

    def log(self) -> list[RunRecord]:
        """Every run of every stage, oldest first."""
        return overview.log(self._store)

    def report(self, path: str | Path, partition: Partition | None = None, agreement: Agree | None = None) -> Path:
        """Write everything about the study into one HTML file, at whatever stage it is; changes nothing in it."""
        rules, options = partition or self.own(Partition), agreement or self.own(Agree)
        return report.write(self._store, path, rules, options)


def _read_text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"the guidelines {path} cannot be read: {error}") from error
