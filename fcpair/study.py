"""Study: the public API. Its texts, its people, its settings, its log, and its grids."""

# mypy: implicit-reexport
# ruff: noqa: F401
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

from fcpair.errors import StudyError
from fcpair.grid import Grid
from fcpair.param_values import as_params, choose_params
from fcpair.params import DEFAULT_SCHEME, Folding, Setup
from fcpair.records import Person
from fcpair.steps import use_cases as steps
from fcpair.steps.base.context import StudyContext, find_grid, note_run
from fcpair.store import Store, Tx, people
from fcpair.store.corpus import grids
from fcpair.store.database import backends, schema
from fcpair.store.database.backends import Place, sqlite

if TYPE_CHECKING:
    from fcpair.plans import GridPlan
    from fcpair.steps.answers.work_queue import WorkQueue
    from fcpair.steps.oversight.study_start import StudyStart
    from fcpair.steps.people.access import Access
    from fcpair.steps.rules.wording import PageWords

if not TYPE_CHECKING:
    __getattr__, __all__ = steps.classes(
        __name__, access=["Access"], study_start=["StudyStart"], wording=["PageWords"], work_queue=["WorkQueue"]
    )

display_name = backends.display_name


class Study(StudyContext):
    """A study in its file, or in a database of a server; `grid` hands out what is done stage by stage.

    Methods that change the study return the RunRecord that they leave, with what they counted. All raise StageError
    when they are called too early or a second time, InputError for what is wrong with their input (and then leave the
    study as it was), StudyError when the file cannot be read or written.
    """

    doctor = steps.static(steps.doctor.examine)
    verify = steps.static(steps.release_folder.verify_release)
    diff = steps.static(steps.release_folder.diff_releases)

    def __init__(self, path: Place) -> None:
        """Open the study at `path`, a file or a URL (`postgresql+psycopg://user@host/name`).

        Raises StudyError when there is none that this fcpair can read; `Study.create` makes one.
        """
        super().__init__(Store.open(path))

    @classmethod
    def look(cls, path: Place) -> Self:
        """Open the study at `path` for one look: all that is asked of it until `end_look` is of one moment.

        Whoever writes may have to wait until then. Raises what `Study` does.
        """
        return cls._of(Store.open(path, look=True))

    def end_look(self) -> None:
        """End the look for which the study was opened; it stays open."""
        self._store.end_look()

    @classmethod
    def _of(cls, store: Store) -> Self:
        """The study in a store that is open."""
        study = cls.__new__(cls)
        StudyContext.__init__(study, store)
        return study

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @classmethod
    def create(
        cls,
        path: Place,
        setup: Setup | None = None,
        *,
        grids: Sequence[GridPlan] = (),
        title: str = "",
        guidelines: str | Path | None = None,
        hs_name: str = "hate speech",
        cn_name: str = "counter-narrative",
        scheme: str = DEFAULT_SCHEME,
        folding: Folding = "none",
    ) -> Study:
        """Make a new study at `path`, a file or the URL of a database, with the grid `main`, or with planned `grids`.

        Args:
            setup: all that follows `grids`, as an object.
            title: the study's name.
            guidelines: a Markdown file with the annotation guidelines.
            hs_name: what the query side is called.
            cn_name: what the candidate side is called.
            scheme: the question that the labels answer.
            folding: which spellings are the same text: arabic folds yeh, kaf, spaces, kashida and vowel signs.

        Raises:
            StudyError: something is there, or the guidelines cannot be read.
            InputError: the guidelines are too long, no labels can answer the scheme, or what `add_grid` refuses.
        """
        keywords = Setup(title, cast("Path | None", guidelines), hs_name, cn_name, scheme, folding)
        setup = choose_params(setup, keywords, Setup())
        try:
            body = setup.guidelines.read_text("utf-8") if setup.guidelines else ""
        except (OSError, UnicodeDecodeError) as error:
            raise StudyError(f"the guidelines {setup.guidelines} cannot be read: {error}") from error
        steps.people.check_guidelines(body)

        def fill(tx: Tx) -> None:
            steps.grids.fill_study(tx, setup, body, main=not grids)
            run = note_run(tx, setup.stage, as_params(setup), {})
            for plan in grids:
                steps.grids.add(tx, plan)
            steps.text_digests.save_folding(tx, setup, run)

        return cls._of(Store.create(path, fill))

    @staticmethod
    def exists(path: Place) -> bool:
        """Return whether something is at a place that no new study can be made at."""
        return backends.at(path).is_there(path)

    @classmethod
    def upgrade(cls, path: Place) -> Path | None:
        """Bring a study that an older fcpair made up to date, and keep a backup of it as it was.

        Returns the backup, None where there was nothing to do. Raises StudyError when the study cannot be upgraded; it
        is as it was then.
        """
        from fcpair.store import backups

        return backups.upgrade(path, steps.rule_decisions.repair_old_decisions)

    @classmethod
    def accept(cls, path: str | Path) -> dict[str, int] | None:
        """Take a file that lost its log, or that is put together of two, as it is: what it has is all that there is.

        Returns how many rows of each table are known to be missing, which the run log has as `accept`; None, and
        nothing is done, where the file is as it was written. Raises StudyError for a file that is damaged, or beside
        which another one's log lies.
        """
        return Store.accept_as_is(Path(path), steps.doctor.accept)

    copy = steps.static(steps.doctor.copy)
    back_up = steps.static(steps.doctor.back_up)
    restore = steps.static(steps.doctor.restore)
    check_backup = steps.static(steps.doctor.check_backup)

    def examine(self) -> None:
        """Raise StudyError where the file is damaged, or put together of a file and a log of different times.

        That reads all of it.
        """
        self._store.examine()

    @property
    def exposure_warning(self) -> str | None:
        """A sentence that says that others on this machine may read the study's file; None where they may not."""
        return sqlite.exposure_warning(self._store.place)

    @property
    def place(self) -> str:
        """The file of the study, or the URL of its database without any password."""
        return self._store.place

    @property
    def schema(self) -> str:
        """The revision of the study's tables, such as `0009`; each released fcpair has one."""
        with self._store.read() as tx:
            return schema.revision(tx)

    @property
    def address(self) -> str:
        """By which the study can be opened from anywhere on this machine; it may hold a password."""
        return self._store.address

    def share(self) -> None:
        """Let many read while one writes, as long as the study is served; `close` ends it."""
        self._store.share()

    def close(self) -> None:
        """Let go of the file, and make it one file again after `share`."""
        self._store.close()

    def remove(self) -> None:
        """Delete the study's file, as it was opened or made here."""
        self._store.remove()

    def grid(self, name: str | None = None) -> Grid:
        """The grid of this name; without a name, the only one, or `main`.

        Raises UnknownIdError, with the nearest name or all there are, when there is none.
        """
        with self._store.read() as tx:
            return Grid(self._store, find_grid(tx, name))

    @property
    def grids(self) -> list[str]:
        """The names of the grids, oldest first."""
        with self._store.read() as tx:
            return [key.name for key in grids.keys(tx)]

    @property
    def guidelines(self) -> tuple[int, str]:
        """The number and the Markdown of the guidelines that hold."""
        with self._store.read() as tx:
            return people.current_guidelines(tx)

    add_grid = steps.grids.add_grid
    import_survey = steps.survey.import_survey
    open_survey = steps.survey.open_survey
    grid_overview = steps.status.overview

    guideline_versions = steps.people.guideline_versions
    guideline_readers = steps.people.guideline_readers
    edit_guidelines = steps.people.edit_guidelines
    import_corpus = steps.building.import_corpus

    add_people = steps.people.add
    change_role = steps.people.change_role
    retire = steps.people.retire
    dismiss = steps.withdraw.dismiss
    hand_over = steps.people.hand_over

    @property
    def people(self) -> list[Person]:
        """Everybody who takes or took part."""
        with self._store.read() as tx:
            return people.people(tx)

    acting_as = steps.static(steps.context.acting_as)

    access = steps.cached(steps.access.Access)

    start = steps.cached(steps.study_start.StudyStart)

    work_queue = steps.work_queue.open_work_queue
    discussions = steps.discussion.discussions
    has_discussion = steps.discussion.has_discussion
    save_practice = steps.practice.save_practice
    read_practice_text = steps.practice.read_practice_text
    known_items = steps.practice.known_items
    practice_round = steps.practice.practice_round
    review_qualifications = steps.practice.review_qualifications
    waits_for_lead = steps.practice.waits_for_lead
    has_control_pairs = steps.known_pairs.has_control_pairs
    save_words = steps.wording.save_words
    page_words = steps.wording.page_words
    load_names = steps.wording.load_names
    save_terms = steps.people.save_terms
    page_language = steps.wording.page_language

    walk = steps.recipe_runner.run_recipe
    recipe_options = steps.keywords.by_recipe
    recipe = steps.study_recipe.recipe
    recipe_text = steps.study_recipe.recipe_text
    status = steps.status.status
    workload = steps.status.workload
    log = steps.status.log
    report = steps.report.write_report
    methods = steps.methods.write_methods
    latest_evaluation = steps.report.latest_evaluation
    release = steps.release_folder.release_study
    load_release_form = steps.release_log.load_form
    save_release_form = steps.release_log.save_form
    list_releases = steps.release_log.list_releases

    __repr__ = steps.status.describe
    _repr_html_ = steps.status.describe_as_html
