"""Releases as a study knows them: the form that is kept between them, and the state of those that were written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fcpair.errors import ConflictError
from fcpair.files.release.release_facts import ReleaseForm, parse_form
from fcpair.files.tables import folders
from fcpair.records import RunRecord
from fcpair.sentences import mark
from fcpair.steps.base import context
from fcpair.steps.base.context import StudyContext
from fcpair.steps.oversight.doctor import RELEASE, RELEASE_FORM
from fcpair.store.oversight import runs


def load_form(study: StudyContext) -> tuple[ReleaseForm, int]:
    """The form as it was last kept in the study, and by which run; 0 where it was not."""
    with study._store.read() as tx:
        run, kept = next(runs.outcomes(tx, RELEASE_FORM), (None, {}))
    return parse_form(kept)[0], run.id if run else 0


def save_form(study: StudyContext, form: ReleaseForm, *, seen: int) -> RunRecord:
    """Keep a form, however much of it is filled in; ConflictError where it is not as the run `seen` left it."""
    with study._store.write() as tx:
        if seen != next((run.id for run, _ in runs.outcomes(tx, RELEASE_FORM)), 0):
            raise ConflictError.say("the form was saved by somebody else meanwhile; load the page again")
        kept = {path: [*value] if isinstance(value, tuple) else value for path, value in form.answers.items()}
        return context.note_run(tx, RELEASE_FORM, {}, {}, outcome=kept)


SOUND, CHANGED = mark("as it was written"), mark("changed since")
MISSING, DOWNLOADED = mark("no longer there"), mark("not kept on the server")


@dataclass(frozen=True)
class ListedRelease:
    """A release, or a tier, that the study has noted: its pairs by tier, its state now, its place if it has one."""

    run: RunRecord
    name: str
    file: str
    tiers: Mapping[str, int]
    digest: str
    state: str
    place: Path | None = None


def list_releases(study: StudyContext) -> list[ListedRelease]:
    """The releases of the study and its tiers that were written alone, newest first, each with its state now."""
    with study._store.read() as tx:
        log, noted = runs.runs(tx), [row for row in runs.releases(tx) if row["path"]]
    path_by_digest = {row["sha256"]: Path(row["path"]) for row in noted if "release" not in row["rule"]}
    # A folder is noted by its tiers.
    folders_noted = [
        (row["rule"]["release"], Path(row["path"]).parents[1]) for row in noted if "release" in row["rule"]
    ]
    place_by_name = {(name, folder.name): folder for name, folder in folders_noted}
    listed = []
    for run in reversed(log):
        if run.stage != RELEASE and not (run.stage == "partition" and "sha256" in run.counts):
            continue
        file, digest = Path(run.params["out"]), run.counts.get("digest") or run.counts["sha256"]
        name, tiers = run.params.get("name", ""), run.counts.get("pairs", {})
        place, state = place_by_name.get((name, file.name), path_by_digest.get(digest, file)), DOWNLOADED
        if not run.params.get(runs.DOWNLOAD):
            if place.is_dir():
                found_digest, _, faults = folders.check_folder(place)
            else:
                found_digest, faults = folders.digest_file(place) if place.is_file() else "", ()
            state = SOUND if found_digest == digest and not faults else CHANGED if place.exists() else MISSING
        tiers = tiers if isinstance(tiers, dict) else {run.params["tier"]: tiers}
        listed.append(ListedRelease(run, name, file.name, tiers, digest, state, place))
    return listed
