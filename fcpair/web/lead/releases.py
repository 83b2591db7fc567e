"""Releases of the study: those that were made, the form of the next one, checking one, and what differs between two."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse, PlainTextResponse
from starlette.concurrency import run_in_threadpool

from fcpair.errors import InputError, UnknownIdError
from fcpair.files.release.release_facts import AUTHOR_KEYS, ENTRIES, NO_TEXTS, ReleaseForm, parse_form
from fcpair.files.tables.folders import SUMS
from fcpair.sentences import Sentence, mark, say, say_number
from fcpair.study import Study
from fcpair.web.current_grid import RELEASES
from fcpair.web.form import fields, parse_number
from fcpair.web.lead.files import table_attachment
from fcpair.web.server.held_files import GONE, HeldFile, HeldFiles
from fcpair.web.server.security import UPLOAD_RELEASE
from fcpair.web.start import take_file
from fcpair.web.visits import REFUSALS, LeadVisit, Visit, go_to

router = APIRouter(include_in_schema=False)
FORM = f"{RELEASES.path}/form"
MOST_UPLOAD = 500 * 1024 * 1024
TOO_LARGE = mark("the file has more than %(number)s MB, which is the limit here; use `fcpair verify` on the server")
EMPTY = say("the file is empty; choose the zip file of a release")
SECTIONS = {
    "release": mark("The dataset"),
    "licence": mark("Licences"),
    "rai": mark("Responsible use"),
    "datasheet": mark("How it was made"),
    "statement": mark("Language and people"),
}
MORE_AUTHORS, MOST_AUTHORS = 2, 200  # lines for others than those that are there, and for all
SHOWN_CHANGES = 200


class ReleaseAtHand(NamedTuple):
    """A release that can be looked at: a folder of this server, or a zip file that is held for a day."""

    key: str
    name: str
    path: Path
    digest: str
    held: HeldFile | None = None


def _held_files(visit: Visit) -> HeldFiles:
    return HeldFiles(visit.study.start.folder, "releases")


def _digest_of(path: Path) -> str:
    """The digest of a packed release; empty where it is none."""
    with suppress(zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError), zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.rpartition("/")[2] == SUMS and name.count("/") < 2:
                return sha256(archive.read(name)).hexdigest()
    return ""


def _at_hand(visit: Visit, listed: Sequence[Any]) -> dict[str, ReleaseAtHand]:
    held = (ReleaseAtHand(of.token, of.path.name, of.path, _digest_of(of.path), of) for of in _held_files(visit).all())
    on_server = (
        ReleaseAtHand(f"run-{of.run.id}", of.name, of.place, of.digest)
        for of in listed
        if of.name and of.place is not None and of.place.is_dir()
    )
    return {of.key: of for of in (*held, *on_server)}


def _find(visit: Visit, *keys: str) -> tuple[list[ReleaseAtHand], list[ReleaseAtHand]]:
    """The releases of these keys, and all others."""
    at_hand = _at_hand(visit, visit.study.list_releases())
    if not at_hand.keys() >= set(keys):
        raise UnknownIdError(GONE)
    return [at_hand[key] for key in keys], [of for key, of in at_hand.items() if key not in keys]


@router.get(RELEASES.path)
def releases(visit: LeadVisit, run: int = 0, made: str = "") -> Response:
    """Show the releases, and where one is sent to be checked."""
    listed = visit.study.list_releases()
    at_hand = _at_hand(visit, listed)
    return visit.lead_page(
        "lead_releases.html.j2",
        RELEASES,
        run,
        releases=listed,
        at_hand=[*{of.digest or of.key: of for of in at_hand.values()}.values()],
        by_digest={of.digest: of for of in at_hand.values() if of.digest},
        made=at_hand.get(made),
        most=MOST_UPLOAD,
        simulated=visit.context.grids.oldest.monitor.simulated_note(),
    )


@router.get(FORM)
def form(visit: LeadVisit, run: int = 0) -> Response:
    """Show the form of the next release, as it was last kept."""
    return _show_form(visit, run=run)


def _show_form(
    visit: Visit, typed: Mapping[str, str] | None = None, errors: Mapping[str, Sentence] | None = None, run: int = 0
) -> Response:
    kept, version = visit.study.load_release_form()
    today, title = datetime.now().date().isoformat(), visit.study.facts["title"]
    usual = ReleaseForm({"title": title, "date": today, **kept.answers})
    texts = {of.path: usual[of.path] for of in ENTRIES if of.kind != "authors"}
    shown = {path: "\n".join(value) if isinstance(value, list | tuple) else str(value) for path, value in texts.items()}
    authors = enumerate(usual["authors"])
    shown |= {f"author.{at}.{key}": author.get(key, "") for at, author in authors for key in AUTHOR_KEYS}
    values = typed or {**shown, "seen": str(version), "texts": "yes", "seed": "0"}
    filled: dict[str, Any] = {**values, "authors": _authors(values)}
    return visit.lead_page(
        "lead_release_form.html.j2",
        RELEASES,
        run,
        sections={title: [of for of in ENTRIES if of.section == section] for section, title in SECTIONS.items()},
        values=values,
        errors=errors or {},
        missing=[of for of in ENTRIES if of.required and not filled.get(of.path)],
        sizes=[(here.name, here.tier_sizes) for here, _ in visit.overviews],
        no_texts=NO_TEXTS,
        author_keys=AUTHOR_KEYS,
        n_authors=max(filled["authors"], default=-1) + 1 + MORE_AUTHORS,
    )


def _read_form(typed: Mapping[str, str]) -> tuple[ReleaseForm, dict[str, Sentence]]:
    """The form, and what is wrong with fields of it, which are called by their labels."""
    values = dict[str, Any]()
    for entry in ENTRIES:
        text = typed.get(entry.path, "").replace("\r\n", "\n").strip()
        values[entry.path] = text.splitlines() if entry.kind in ("texts", "languages") else text
    form, errors = parse_form({**values, "authors": [*_authors(typed).values()]})
    labels = {entry.path: say(entry.label) for entry in ENTRIES}
    wrong = {path: error.args[0] for path, error in errors.items()}
    return form, {path: say(of.template, **{**of.values, "key": labels[path]}) for path, of in wrong.items()}


def _authors(typed: Mapping[str, str]) -> dict[int, dict[str, str]]:
    """The authors in the fields of a form, by their lines."""
    lines = {at: {key: typed.get(f"author.{at}.{key}", "") for key in AUTHOR_KEYS} for at in range(MOST_AUTHORS)}
    return {at: author for at, author in lines.items() if any(author.values())}


@router.post(FORM)
def save(visit: LeadVisit) -> Response:
    """Keep the form, and make a release of it if that was asked for."""
    typed = fields(visit.request)
    form, errors = _read_form(typed)
    try:
        if errors:
            raise InputError(
                say_number(
                    "nothing was saved: %(n)s field cannot be read; it says what it expects",
                    "nothing was saved: %(n)s fields cannot be read; each says what it expects",
                    len(errors),
                )
            )
        if (seed := parse_number(typed.get("seed", ""))) is None:
            raise InputError.say("the random seed is no number; enter a whole number")
        with visit.study.acting_as(visit.visitor.name):
            kept, version = visit.study.load_release_form()
            run = None
            if kept != form:
                run = visit.study.save_release_form(form, seen=parse_number(typed.get("seen", "")) or 0)
                typed = {**typed, "seen": str(run.id)}
            if typed.get("act") != "make":
                return go_to(visit.here.address(FORM, run=run.id if run else version))
            return _make(visit, typed, form, seed)
    except REFUSALS as refusal:
        return _show_form(visit.refused(refusal), typed, errors)


def _make(visit: Visit, typed: Mapping[str, str], form: ReleaseForm, seed: int) -> Response:
    name, has_texts, is_draft = typed.get("name", "").strip(), typed.get("texts") == "yes", "draft" in typed
    with TemporaryDirectory(prefix="fcpair-") as temporary:
        folder = Path(temporary) / name  # which is checked before anything is written
        run = visit.study.release(name, folder, form, seed=seed, texts=has_texts, draft=is_draft, download=True)
        held = _held_files(visit).new(f"{name}.zip")
        shutil.make_archive(str(held.path.with_suffix("")), "zip", temporary, name)
    return go_to(visit.here.address(RELEASES.path, run=run.id, made=held.token))


@router.get(f"{RELEASES.path}/file/{{token}}")
def file(visit: LeadVisit, token: str) -> Response:
    """Send a release that was made, or sent, in the last day."""
    path = _held_files(visit).find(token).path
    return FileResponse(path, filename=path.name, media_type="application/zip")


@router.post(UPLOAD_RELEASE[1])
async def upload(visit: LeadVisit, name: str = "") -> Response:
    """Take the zip file of a release, whose bytes are the body, and answer with the page that checks it."""
    held = await run_in_threadpool(_held_files(visit).new, name)

    async def check_zip() -> Response:
        if not await run_in_threadpool(zipfile.is_zipfile, held.path):
            raise InputError.say("`%(name)s` is no zip file; pack the folder of the release, and send that", name=name)
        return PlainTextResponse(visit.here.address(f"{RELEASES.path}/check", of=held.token))

    return await take_file(visit, held.path, (MOST_UPLOAD, TOO_LARGE, EMPTY), check_zip, held.discard)


@router.get(f"{RELEASES.path}/check")
def check(visit: LeadVisit, of: str = "") -> Response:
    """Show whether a release is what was written, and what the study gives otherwise now."""
    (release,), others = _find(visit, of)
    visit, verification = _look(visit, lambda: Study.verify(release.path, visit.study), release)
    others = [other for other in others if other.digest != release.digest]
    shown = {"release": release, "verification": verification, "others": others}
    return visit.lead_page("lead_release_check.html.j2", RELEASES, **shown)


def _look(visit: Visit, look: Callable[[], Any], *releases: ReleaseAtHand) -> tuple[Visit, Any]:
    """What a look at releases gives; else None, and the visit with a refusal that calls them by their names."""
    try:
        return visit, look()
    except REFUSALS as refusal:
        sentence = str(refusal)
        for release in releases:
            sentence = HeldFile(release.path).hide_folder(sentence)
        return visit.refused(type(refusal)(sentence)), None


@router.get(f"{RELEASES.path}/differences")
def differences(visit: LeadVisit, before: str = "", after: str = "", download: bool = False) -> Response:
    """Show which pairs differ between two releases, and why, or send all of them as a table."""
    (first, then), _ = _find(visit, before, after)
    visit, changes = _look(visit, lambda: Study.diff(first.path, then.path), first, then)
    if download and changes is not None:
        return table_attachment(changes.to_frame(), "differences.csv")
    return visit.lead_page(
        "lead_release_differences.html.j2",
        RELEASES,
        before=first,
        after=then,
        counts={} if changes is None else changes.counts(),
        changes=(changes or ())[:SHOWN_CHANGES],
        n_changes=len(changes or ()),
        relabelled=() if changes is None else changes.relabelled,
    )
