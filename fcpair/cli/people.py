"""people: add, list, invite, revoke, rotate-secret, terms, forget, role, dismiss, pilot, qualified, and acts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.acts import add_acts
from fcpair.cli.options import (
    PATH,
    format_option,
    look_at_study,
    option,
    round_option,
    seed_option,
    shared_option,
    with_grid,
    with_study,
)
from fcpair.cli.output import print_message, print_receipt, print_rows, print_run, tabular
from fcpair.errors import InputError, StageError
from fcpair.params import DEFAULT_SERVER_URL, Assign
from fcpair.records import Role, invite_link

if TYPE_CHECKING:
    from fcpair.grid import Grid
    from fcpair.study import Study

url_option = option(
    "--url",
    envvar="FCPAIR_URL",
    default=DEFAULT_SERVER_URL,
    show_envvar=True,
    help="Where people reach `fcpair serve`.",
)
role_choice = click.Choice([role.value for role in Role if role is not Role.MODEL])

PERSON_COLUMNS = ("name", "role", "retired", "open", "done", "skipped", "withdrawn", "decided")
SCORE_COLUMNS = ("name", "use", "answered", "right", "share", "low", "high", "standing")
SCORE_NOTE = (
    "right answers of those answered, which the pass mark is about, with Wilson's interval at 95 %; a skip is no "
    "answer, and in a qualification another known pair comes in its place, as long as there is one."
)
PILOT = ("name", "good", "judged", "wrote", "passed")


@click.group()
def people() -> None:
    """People: add, list, invite, revoke, role, ...

    \b
    Example:
      fcpair people add ana ben --role annotator
      fcpair people invite ana
      fcpair people list
    """


add_acts(people)


@people.command()
@click.argument("names", nargs=-1, required=True)
@option("--role", type=role_choice, default=Role.ANNOTATOR.value, help="Their role in the study.")
@url_option
@with_study
def add(study: Study, names: tuple[str, ...], role: str, url: str) -> None:
    """Add people under pseudonyms, and print an invite link for each.

    \b
    Example:
      fcpair people add vera --role validator
    """
    tokens = study.access.add(list(names), Role(role))
    print_receipt(f"added as {role}: {', '.join(tokens)}", {"role": role, "added": list(tokens)})
    _show_links(tokens, url)
    state = study.status()
    idle = [row["name"] for row in state["people"] if row["name"] in names and not row["open"]]
    if idle and role == Role.ANNOTATOR and state["stages"].get("assign"):
        who, is_open = ", ".join(idle), study.effective_options(Assign).open
        on_request = f"pairs are handed out on request in the browser, to {who} too"
        print_message(on_request if is_open else f"`fcpair assign --more` gives {who} an even share of the open pairs")


@people.command()
@click.argument("names", nargs=-1, metavar="NAME...")
@option("--all", "everybody", is_flag=True, help="Invite everybody who has no link yet.")
@shared_option("--out", type=PATH, detail="The links go to a new CSV that only you can read, and none is printed.")
@url_option
@with_study
def invite(study: Study, names: tuple[str, ...], everybody: bool, out: Path | None, url: str) -> None:
    """Print new invite links; earlier ones stop working.

    A link is shown only once, since the study keeps only its hash, and works until `invite` makes another, or
    `revoke` ends it: send it to that person only.

    \b
    Example:
      fcpair people invite ana ben --url https://labels.example.org
      fcpair people invite --all --out links.csv
    """
    if everybody == bool(names):
        raise click.UsageError("give names, or --all for everybody who has no link yet")

    def store_links(tokens: dict[str, str]) -> None:
        """Write names and links to a file that is not there yet, for the eyes of its owner alone."""
        if out is None:
            return
        try:
            file = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise InputError(f"{out} exists already and may hold links; name a new file") from None
        except OSError as error:
            raise InputError(f"{out}: {error.strerror}; name another file") from None
        with os.fdopen(file, "w", encoding="utf-8", newline="") as written:
            links = ((name, invite_link(url, token)) for name, token in tokens.items())
            written.write(tabular.format_csv([("name", "link"), *links]))

    tokens = study.access.invite_all(names or None, store_links)
    if out is None:
        _show_links(tokens, url)
        return
    line = f"{out}: {len(tokens):,} link{'s' * (len(tokens) != 1)}; delete the file when they are sent"
    print_receipt(line, {"file": str(out), "links": len(tokens)})


def _show_links(tokens: dict[str, str], url: str) -> None:
    for name, token in tokens.items():
        link = invite_link(url, token)
        print_receipt(f"{name}: {link}", {"name": name, "link": link})


@people.command()
@click.argument("name")
@with_study
def revoke(study: Study, name: str) -> None:
    """Revoke a person's link, and end their session; their work stays theirs.

    \b
    Example:
      fcpair people revoke ana
    """
    study.access.revoke(name)
    line = f"{name} can no longer sign in; `fcpair people invite {name}` makes a new link"
    print_receipt(line, {"name": name, "revoked": True})


@people.command("rotate-secret")
@option("--yes", is_flag=True, help="Do not ask for confirmation.")
@with_study
def rotate_secret(study: Study, yes: bool) -> None:
    """End every session at once, including those that a copy of the study could sign.

    Anyone with a copy of the study file can act as anybody in it, until this renews the secret that signs sessions. A
    running server continues. Invite links stay valid: people sign in again with theirs, and answers that they have not
    sent yet are sent then.

    \b
    Example:
      fcpair people rotate-secret
    """
    question = "Everybody is signed out, and signs in again with their invite link. Continue?"
    if not yes:
        click.confirm(question, abort=True, err=True)
    study.access.rotate_secret()
    print_receipt("every session has ended; people sign in again with their invite links", {"sessions_ended": True})


@people.command("list")
@format_option
@look_at_study
def list_(study: Study, form: str) -> None:
    """List everybody, with their work.

    \b
    Example:
      fcpair people list --format csv
    """
    print_rows(form, "People", study.workload(), PERSON_COLUMNS)


@people.command()
@format_option
@with_study
def terms(study: Study, form: str) -> None:
    """Show who has consented, what people said about themselves, and which topics they opted out of.

    \b
    Example:
      fcpair people terms --format csv
    """
    people_terms = study.access.terms()
    plain = ("demographics", "opted_out", "earlier_consents")
    rows = [term | {name: json.dumps(term[name], ensure_ascii=False) for name in plain} for term in people_terms]
    print_rows(form, "Terms", rows, ("name", "role", "consented_at", "consented_to", *plain), data=people_terms)


@people.command()
@click.argument("name")
@with_study
def forget(study: Study, name: str) -> None:
    """Delete what a person said about themselves; their answers stay.

    If the person is retired, the topics that they opted out of are deleted, too.

    \b
    Example:
      fcpair people forget ana
    """
    study.access.forget(name)
    line = f"what {name} said about themselves is deleted; copies of the study still have it"
    print_receipt(line, {"name": name, "forgotten": True})


@people.command()
@click.argument("name")
@click.argument("new_role", metavar="ROLE", type=role_choice)
@with_study
def role(study: Study, name: str, new_role: str) -> None:
    """Give a person without open work another role.

    \b
    Example:
      fcpair people role ana validator
    """
    study.change_role(name, Role(new_role))
    print_receipt(f"{name} is {new_role} now", {"name": name, "role": new_role})


@people.command()
@click.argument("name")
@seed_option
@shared_option("--reason", default="", metavar="TEXT", detail="They read it when they open their link.")
@option("--yes", is_flag=True, help="Do not ask for confirmation.")
@with_study
def dismiss(study: Study, name: str, seed: int, reason: str, yes: bool) -> None:
    """Dismiss a person: their answers are withdrawn, and their cells are assigned again.

    Nothing is deleted: each answer stays on record as withdrawn. Answers in rounds for everybody, such as a pilot,
    stay. With `--reason`, a person can be dismissed who has answered nothing yet, as after a qualification.

    \b
    Example:
      fcpair people dismiss ben --yes
      fcpair people dismiss ben --reason "Thank you. We need people who know these forums."
    """
    if not yes:
        click.confirm(f"Withdraw all that {name} answered, and dismiss them?", abort=True, err=True)
    print_run(study.dismiss(name, reason=reason, seed=seed))


@people.command()
@round_option
@with_grid
@format_option
def pilot(grid: Grid, name: str | None, form: str) -> None:
    """Show how everybody did in the pilot that a round requires, and who passed.

    \b
    Example:
      fcpair people pilot --grid write
    """
    rows = grid.desk.pilot_results(name)
    note = "good: texts with more positive than other judgements; judged: texts with any."
    print_rows(form, "The pilot", rows, PILOT, [note])


@people.command()
@with_grid
@format_option
def qualified(grid: Grid, form: str) -> None:
    """Show everybody's right answers to known pairs, and who waits for you.

    \b
    Example:
      fcpair people qualified
    """
    rows = grid.desk.known_scores()
    if not rows:
        raise StageError("nobody has known pairs; `fcpair people qualify FILE` sets some before `fcpair assign`")
    print_rows(form, "Known pairs", rows, SCORE_COLUMNS, [SCORE_NOTE])
