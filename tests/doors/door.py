"""The doors by which people reach a study: Python, commands, the API and pages, with the same acts.

ACTS lists which door has which act; a rule is run at each door that has its acts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from html import unescape
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, cast

import pytest
import web.conftest
from click.testing import CliRunner
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select
from steps.small import NAMES, dump, write_csv
from web.conftest import Site, csrf_of

from fcpair.cli import main
from fcpair.errors import FcpairError
from fcpair.params import Adjudicate, Annotate, Note, Partition, Validate
from fcpair.records import Role, Visitor
from fcpair.steps.base.context import load_opaque_ids
from fcpair.store.corpus.grids import to_public_number
from fcpair.store.database.tables import assignment
from fcpair.study import Study
from fcpair.web.context import replace_commands
from fcpair.work_records import Submission

LEAD = "lea"
NOWHERE = 9_999_999  # the number of no assignment
OUTCOMES = {**{name: code for code, name in enumerate(NAMES)}, "irreconcilable": None}
ALL = ("python", "command", "api", "page")
LEADS = ("python", "command", "page")
ACTS = {
    "answer": ALL,
    "check": ALL,
    "next": ("python", "api", "page"),
    "answers": ("python", "api", "page"),
    "progress": ("python", "api", "page"),
    "consent": ("python", "api", "page"),
    "next_case": ("python", "api", "page"),  # likewise
    "look": ("python", "api", "page"),  # a command shows what waits, one after the other
    "decide": ALL,
    "take_back": ("python", "api", "page"),  # a command takes back what was decided in the same dialogue
    "decided": ("python", "api", "page"),
    "adjudicate": LEADS,
    "assign_validation": LEADS,
    "withdraw": LEADS,
    "add": LEADS,
    "invite": LEADS,
    "revoke": LEADS,
    "retire": LEADS,
    "dismiss": LEADS,
    "forget": LEADS,
    "change_role": LEADS,
    "hand_over": LEADS,
    "let_on": LEADS,
    "note": LEADS,
    "start_calibration": LEADS,
    "open_discussion": LEADS,
    "close_calibration": LEADS,
    "explain": LEADS,
    "release": LEADS,
    "edit_guidelines": ("python", "page"),
    "set_diamond": ("python", "page"),
    "come_in": ("python", "api", "page"),
}
"""By which doors there is which act."""
PREFIX = re.compile(r"^(Error: )?(\S+: \d+ things? (is|are) wrong; nothing was changed )?(\S+\.csv:(\d+:)? )?")
REFUSALS = (  # in an alert, beside a field, and on a page of its own
    r'role="alert"[^>]*>([^<]+(?:<(?!/p|/div)[^<]*)*)',
    r'id="help-\w+"><strong>(.*?)</strong>',
    r'<h1>[^<]*</h1>\s*</div>\s*</header>\s*<div class="card">\s*<p>(.*?)</p>',
)


class Said(NamedTuple):
    """What a door says of an act: whether it was done, the sentence if it was refused, and what it gave."""

    ok: bool
    message: str = ""
    value: Any = None

    def then(self, read: Callable[[Any], Any]) -> Said:
        """The same with what is read from what the door gave, if the act was done."""
        return self._replace(value=read(self.value)) if self.ok else self


def sentence(text: str) -> str:
    """A refusal as all doors say it: without marks, the line of a file, a capital and a full stop."""
    words = " ".join(unescape(re.sub(r"<[^>]+>", "", re.sub("</?code>", "`", text))).split())
    words = PREFIX.sub("", words).removesuffix(".")
    words = re.sub(r"[;.] [Nn]othing was changed$", "", words)
    return words[:1].lower() + words[1:]


class House:
    """A study and all doors to it."""

    def __init__(self, study: Study, folder: Path, tokens: dict[str, str], annotate: Annotate | None = None) -> None:
        self.study, self.folder, self.tokens, self.annotate = study, folder, dict(tokens), annotate or Annotate()
        self.requests = count()
        self._doors: dict[str, Any] = {}

    @cached_property
    def site(self) -> Site:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(web.conftest, "add_everybody", lambda _: None)
            return Site(self.study, self.annotate)

    def door(self, name: str) -> Any:
        """The door of a name."""
        if name not in self._doors:
            self._doors[name] = DOORS[name](self)
        return self._doors[name]

    def person_id(self, name: str) -> int:
        return next(person.id for person in self.study.people if person.name == name)

    def admit(self, *names: str, consent: bool = True) -> None:
        """Invite people, and have them consent."""
        for name in names:
            self.tokens[name] = self.study.access.invite(name)
            if consent:
                self.study.access.consent(self.person_id(name), {})

    def content(self) -> list[str]:
        """All that is in the study, but for failed attempts to come in."""
        return [line for line in dump(self.study).splitlines() if not re.match(r'(INSERT INTO "?)?attempt', line)]

    def refuse(self, act: str, *given: Any, message: str | dict[str, str], **more: Any) -> None:
        """Each door that has an act refuses it with this sentence, and the study is exactly as it was.

        Where doors differ, `message` has the sentences by door, that of `all` others, and none where it is no refusal.
        """
        expected = dict.fromkeys(ACTS[act], message) if isinstance(message, str) else message
        expected = {name: expected.get(name, expected.get("all", "")) for name in ACTS[act]}
        expected = {
            name: replace_commands(refusal) if name == "page" else refusal
            for name, refusal in expected.items()
            if refusal
        }
        before = self.content()
        said = {name: getattr(self.door(name), act)(*given, **more) for name in expected}
        assert {name: (one.ok, one.message) for name, one in said.items()} == {
            name: (False, refusal) for name, refusal in expected.items()
        }
        assert self.content() == before

    def close(self) -> None:
        if "site" in vars(self):
            self.site.close()
        else:
            self.study.close()


class Door:
    """A door of a study; acts are methods, and what they are called with is the same at each."""

    name: ClassVar[str]

    def __init__(self, house: House) -> None:
        self.house, self.study = house, house.study

    def assignment_id(self, name: str, pair: int) -> int:
        """The number by which people name an assignment, whether or not it is still theirs."""
        with self.study._store.read() as tx:
            mine = assignment.c.person_id == self.house.person_id(name)
            rows = tx.execute(select(assignment.c.id, assignment.c.cell_id).where(mine).order_by(assignment.c.id))
            ids = [row.id for row in rows if to_public_number(row.cell_id) == pair]
            return load_opaque_ids(tx).encrypt_assignment(ids[-1]) if ids else NOWHERE

    def new_request(self) -> str:
        return f"request-{next(self.house.requests):04}"

    def check(self: Any, name: str, pair: int, verdict: str, *, decision_id: int | None = None, **more: Any) -> Said:
        """Answer about the decision on a pair that is shown now, unless another is named."""
        if decision_id is None:
            tasks = self.next(name, 50).value or ()
            decision_id = next((task["decision_id"] for task in tasks if task["cell_id"] == pair), None)
        return cast(Said, self.answer(name, pair, verdict, decision_id=decision_id, **more))


class PythonDoor(Door):
    """The public classes: Study, Grid and the queue of work."""

    name = "python"

    def _call(self, call: Callable[[], Any]) -> Said:
        try:
            return Said(True, value=call())
        except FcpairError as error:
            return Said(False, sentence(str(error)))

    def _visitor(self, name: str) -> Visitor:
        visitor = self.study.access.by_token(self.house.tokens[name])
        assert visitor is not None
        return visitor

    def come_in(self, token: str) -> Said:
        visitor = self.study.access.by_token(token)
        return Said(visitor is not None, value=visitor and visitor.name)

    def consent(self, name: str) -> Said:
        return self._call(lambda: self.study.access.consent(self.house.person_id(name), {}))

    def next(self, name: str, n: int = 1) -> Said:
        queue = self.study.work_queue(self.house.annotate)
        return self._call(lambda: [vars(task) for task in queue.tasks(self._visitor(name), n)])

    def answers(self, name: str, n: int = 1) -> Said:
        queue = self.study.work_queue(self.house.annotate)
        return self._call(lambda: [vars(task) for task in queue.answers(self._visitor(name), n=n)])

    def progress(self, name: str) -> Said:
        return self._call(lambda: vars(self.study.work_queue(self.house.annotate).progress(self._visitor(name))))

    def answer(self, name: str, pair: int, answer: str, *, whose: str = "", request: str = "", **more: Any) -> Said:
        sent = Submission(request or self.new_request(), self.assignment_id(whose or name, pair), answer, **more)
        return self._call(lambda: self.study.work_queue(self.house.annotate).submit(self._visitor(name), sent))

    def next_case(self, name: str) -> Said:
        return self._call(lambda: next(iter(self.study.grid().desk.agenda(name).pairs), None))

    def look(self, name: str, pair: int) -> Said:
        return self._call(lambda: self.study.grid().desk.conflict(pair, by=name))

    def decide(self, name: str, pair: int, outcome: str, *, seen: Any = None, note: str = "") -> Said:
        code: Any = OUTCOMES.get(outcome, 7)
        return self._call(lambda: self.study.grid().decide(pair, code, by=name, note=note, seen=seen))

    def take_back(self, name: str, pair: int) -> Said:
        return self._call(lambda: self.study.grid().take_back(pair, by=name))

    def decided(self, name: str) -> Said:
        from fcpair.grid import AdjudicationQueue

        said = self._call(lambda: AdjudicationQueue(self.study.grid()).decisions(reader=self.house.person_id(name)))
        return said.then(lambda decisions: [(one.cell_id, one.outcome, one.by) for one in decisions])

    def adjudicate(self, policy: str, ties: str = "wait") -> Said:
        return self._call(lambda: self.study.grid().adjudicate(Adjudicate(policy, ties)))  # type: ignore[arg-type]

    def assign_validation(self, *, pairs: int | None = None, blind: bool = False, more: bool = False) -> Said:
        return self._call(lambda: self.study.grid().assign_validation(Validate(pairs=pairs, blind=blind), more=more))

    def withdraw(self, run: int) -> Said:
        return self._call(lambda: self.study.grid().withdraw(run))

    def add(self, names: Sequence[str], role: str) -> Said:
        return self._call(lambda: self.study.access.add(list(names), Role(role)))

    def invite(self, name: str) -> Said:
        return self._call(lambda: self.study.access.invite(name))

    def revoke(self, name: str) -> Said:
        return self._call(lambda: self.study.access.revoke(name))

    def retire(self, name: str) -> Said:
        return self._call(lambda: self.study.retire(name))

    def dismiss(self, name: str, reason: str = "") -> Said:
        return self._call(lambda: self.study.dismiss(name, reason=reason))

    def forget(self, name: str) -> Said:
        return self._call(lambda: self.study.access.forget(name))

    def change_role(self, name: str, role: str) -> Said:
        return self._call(lambda: self.study.change_role(name, Role(role)))

    def hand_over(self, name: str, to: str = "", last: int | None = None) -> Said:
        return self._call(lambda: self.study.hand_over(name, to or None, last=last))

    def let_on(self, name: str) -> Said:
        return self._call(lambda: self.study.grid().desk.let_on(name))

    def note(self, text: str, pair: int | None = None) -> Said:
        return self._call(lambda: self.study.grid().desk.add_note(Note(text, pair)))

    def start_calibration(self, pairs: int) -> Said:
        return self._call(lambda: self.study.grid().calibration.start(pairs=pairs))

    def open_discussion(self, *, early: bool = False) -> Said:
        return self._call(lambda: self.study.grid().calibration.open_discussion(early=early))

    def close_calibration(self, *, early: bool = False) -> Said:
        return self._call(lambda: self.study.grid().calibration.close(early=early))

    def explain(self, pair: int) -> Said:
        return self._call(lambda: self.study.grid().explain(pair))

    def release(self, tier: str) -> Said:
        return self._call(lambda: self.study.grid().release(tier, self.house.folder / f"{tier}.csv"))

    def edit_guidelines(self, body: str) -> Said:
        return self._call(lambda: self.study.edit_guidelines(body, by=LEAD))

    def set_diamond(self, rule: str, *, seen: str | None = None) -> Said:
        return self._call(lambda: self.study.grid().save.partition(Partition(rule), seen=seen))  # type: ignore[arg-type]


class CommandDoor(Door):
    """The command line; answers and decisions come in by files."""

    name = "command"

    def _run(self, *arguments: object) -> Said:
        ended = CliRunner(env={"FCPAIR_STUDY": self.study.place}).invoke(main, [*map(str, arguments)])
        assert ended.exit_code in (0, 2), ended.output
        return Said(ended.exit_code == 0, sentence(ended.stderr) if ended.exit_code else "", ended.stdout)

    def _file(self, **row: object) -> Path:
        return write_csv(self.house.folder / "rows.csv", [row])

    def answer(self, name: str, pair: int, answer: str, *, supersede: bool = False, **more: Any) -> Said:
        path = self._file(pair=pair, annotator=name, label=answer, **more)
        return self._run("labels", "import", path, *["--supersede"] * supersede)

    def check(self, name: str, pair: int, verdict: str, *, supersede: bool = False, **more: Any) -> Said:
        path = self._file(pair=pair, validator=name, verdict=verdict, **more)
        return self._run("validate", "import", path, *["--supersede"] * supersede)

    def decide(self, name: str, pair: int, outcome: str, *, note: str = "") -> Said:
        path = self._file(pair=pair, adjudicator=name, label=outcome, note=note)
        return self._run("adjudicate", "--import", path)

    def adjudicate(self, policy: str, ties: str = "wait") -> Said:
        return self._run("adjudicate", "--policy", policy, "--ties", ties)

    def assign_validation(self, *, pairs: int | None = None, blind: bool = False, more: bool = False) -> Said:
        given = [*(["--pairs", pairs] if pairs is not None else []), *["--blind"] * blind, *["--more"] * more]
        return self._run("validate", "assign", *given)

    def withdraw(self, run: int) -> Said:
        return self._run("labels", "withdraw", run)

    def add(self, names: Sequence[str], role: str) -> Said:
        said = self._run("people", "add", "--role", role, "--", *names)
        return said

    def invite(self, name: str) -> Said:
        return self._run("people", "invite", name).then(lambda printed: printed.strip().rpartition("#")[2])

    def revoke(self, name: str) -> Said:
        return self._run("people", "revoke", name)

    def retire(self, name: str) -> Said:
        return self._run("people", "retire", name)

    def dismiss(self, name: str, reason: str = "") -> Said:
        return self._run("people", "dismiss", name, "--yes", *(["--reason", reason] if reason else []))

    def forget(self, name: str) -> Said:
        return self._run("people", "forget", name)

    def change_role(self, name: str, role: str) -> Said:
        return self._run("people", "role", name, role)

    def hand_over(self, name: str, to: str = "", last: int | None = None) -> Said:
        given = [*(["--to", to] if to else []), *(["--last", last] if last is not None else [])]
        return self._run("people", "handover", name, *given)

    def let_on(self, name: str) -> Said:
        return self._run("people", "let-on", name)

    def note(self, text: str, pair: int | None = None) -> Said:
        return self._run("note", text, *(["--pair", pair] if pair is not None else []))

    def start_calibration(self, pairs: int) -> Said:
        return self._run("calibrate", "start", "--pairs", pairs)

    def open_discussion(self, *, early: bool = False) -> Said:
        return self._run("calibrate", "discuss", *["--early"] * early)

    def close_calibration(self, *, early: bool = False) -> Said:
        return self._run("calibrate", "close", *["--early"] * early)

    def explain(self, pair: int) -> Said:
        return self._run("explain", pair)

    def release(self, tier: str) -> Said:
        return self._run("partition", "--tier", tier, "--out", self.house.folder / f"{tier}.csv")


class _Served(Door):
    """What is done through the app of the study; a refusal has the status of its class."""

    def __init__(self, house: House) -> None:
        super().__init__(house)
        self._clients: dict[str, TestClient] = {}

    def client(self, name: str) -> TestClient:
        key = f"{name} {self.house.tokens.get(name)}"
        if key not in self._clients:
            self._clients[key] = self._enter(name)
        return self._clients[key]

    def _enter(self, name: str) -> TestClient:
        raise NotImplementedError

    def _json(self, response: Response) -> Said:
        if response.is_success:
            return Said(True, value=response.json() if response.content else None)
        assert 400 <= response.status_code < 500, response.text
        detail = response.json()["detail"]
        return Said(False, sentence(detail if isinstance(detail, str) else detail[0]["msg"]), response.status_code)

    def next(self, name: str, n: int = 1) -> Said:
        return self._json(self.client(name).get(f"/api/next?n={n}")).then(itemgetter("tasks"))

    def answers(self, name: str, n: int = 1) -> Said:
        return self._json(self.client(name).get(f"/api/answers?n={n}")).then(itemgetter("tasks"))

    def progress(self, name: str) -> Said:
        return self._json(self.client(name).get("/api/progress"))

    def answer(self, name: str, pair: int, answer: str, *, whose: str = "", request: str = "", **more: Any) -> Said:
        body = {"request_id": request or self.new_request(), "assignment_id": self.assignment_id(whose or name, pair)}
        return self._json(self.client(name).post("/api/judgements", json={**body, "answer": answer, **more}))


class ApiDoor(_Served):
    """The JSON API, by a bearer token."""

    name = "api"

    def _enter(self, name: str) -> TestClient:
        return self.house.site.stranger(headers={"Authorization": f"Bearer {self.house.tokens[name]}"})

    def come_in(self, token: str) -> Said:
        me = self.house.site.stranger(headers={"Authorization": f"Bearer {token}"}).get("/api/me")
        return Said(me.is_success, value=me.json().get("name"))

    def consent(self, name: str) -> Said:
        return self._json(self.client(name).post("/api/consent", json={}))

    def next_case(self, name: str) -> Said:
        said = self._json(self.client(name).get("/api/conflicts/next"))
        return said.then(lambda content: content["case"] and content["case"]["cell_id"])

    def look(self, name: str, pair: int) -> Said:
        return self._json(self.client(name).get(f"/api/conflicts/{pair}"))

    def decide(
        self, name: str, pair: int, outcome: str, *, seen: Any = None, note: str = "", request: str = "", **more: Any
    ) -> Said:
        body = {"request_id": request or self.new_request(), "cell_id": pair, "outcome": outcome, "note": note, **more}
        if seen is not None:
            body |= {"seen_decision_id": seen["decision_id"], "seen_answer_id": seen["answer_id"]}
        return self._json(self.client(name).post("/api/decisions", json=body))

    def take_back(self, name: str, pair: int, *, request: str = "") -> Said:
        body = {"request_id": request or self.new_request()}
        return self._json(self.client(name).post(f"/api/decisions/{pair}/undo", json=body))

    def decided(self, name: str) -> Said:
        said = self._json(self.client(name).get("/api/decided?n=100"))
        return said.then(lambda content: [(one["cell_id"], one["outcome"], one["by"]) for one in content["decisions"]])


class PageDoor(_Served):
    """Pages and their forms; desks send answers by a session and its guard."""

    name = "page"

    def _enter(self, name: str) -> TestClient:
        browser = self.house.site.stranger()
        assert browser.post("/join", data={"token": self.house.tokens[name]}).status_code == 303
        browser.headers["x-csrf-token"] = csrf_of(browser)
        return browser

    def _page(self, response: Response) -> Said:
        """A page or a redirect; what was refused is in an alert, beside a field, or on a page of its own."""
        if response.status_code == 303 and response.headers["location"] in {"/welcome", "/join"}:
            return Said(False, response.headers["location"], response.status_code)
        if response.status_code < 400:
            return Said(True, value=response)
        assert response.status_code < 500, response.text
        found = next(filter(None, (re.search(pattern, response.text, re.DOTALL) for pattern in REFUSALS)))
        return Said(False, sentence(found[1]), response.status_code)

    def _post(self, address: str, name: str = LEAD, **fields: Any) -> Said:
        sent = {key: value for key, value in fields.items() if value not in (None, False)}
        browser = self.client(name)
        return self._page(browser.post(address, data={"csrf": browser.headers["x-csrf-token"], **sent}))

    def come_in(self, token: str) -> Said:
        browser = self.house.site.stranger()
        if browser.post("/join", data={"token": token}).status_code != 303:
            return Said(False)
        return Said(True, value=browser.get("/api/me").json()["name"])

    def consent(self, name: str) -> Said:
        return self._post("/welcome", name, consent="yes")

    def next_case(self, name: str) -> Said:
        said = self._page(self.client(name).get("/adjudicate"))
        return said.then(lambda page: next(map(int, re.findall(r'name="cell_id" value="(\d+)"', page.text)), None))

    def look(self, name: str, pair: int) -> Said:
        def read(page: Response) -> dict[str, str]:
            (form,) = re.findall(r'<form[^>]* action="/adjudicate".*?</form>', page.text, re.DOTALL)
            hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form))
            return hidden | {"page": unescape(page.text)}

        return self._page(self.client(name).get(f"/adjudicate/{pair}")).then(read)

    def decide(
        self, name: str, pair: int, outcome: str, *, seen: Any = None, note: str = "", request: str = "", **more: Any
    ) -> Said:
        shown = {key: seen[key] for key in ("seen_decision_id", "seen_answer_id") if key in seen} if seen else {}
        fields = {"cell_id": pair, "outcome": outcome, "note": note, **shown, **more}
        return self._post("/adjudicate", name, request_id=request or self.new_request(), **fields)

    def take_back(self, name: str, pair: int, *, request: str = "") -> Said:
        return self._post(f"/adjudicate/{pair}/undo", name, request_id=request or self.new_request())

    def decided(self, name: str) -> Said:
        def read(page: Response) -> list[tuple[int, str, str]]:
            rows = re.findall(r"Pair (\d+): ([\w ]+).*?<p[^>]*><small>([^·]*) ·", page.text, re.DOTALL)
            return [(int(pair), outcome.replace(" ", "_"), by) for pair, outcome, by in rows]

        return self._page(self.client(name).get("/adjudicate/decided")).then(read)

    def adjudicate(self, policy: str, ties: str = "wait") -> Said:
        said = self._post("/lead/conflicts/adjudicate", policy=policy, ties=ties, seen=self._policy_that_holds())
        if said.ok and (asked := re.search(r'name="confirmed" value="([^"]*)"', said.value.text)):
            seen = re.search(r'name="seen" value="([^"]*)"', said.value.text)
            assert seen
            fields = {"policy": policy, "ties": ties, "confirmed": asked[1], "seen": seen[1]}
            return self._post("/lead/conflicts/adjudicate", **fields)
        return said

    def _policy_that_holds(self) -> str:
        held = self.study.grid().policy
        return f"{held.policy} {held.ties}" if held else ""

    def assign_validation(self, *, pairs: int | None = None, blind: bool = False, more: bool = False) -> Said:
        return self._post("/lead/conflicts/validate", pairs=str(pairs or ""), blind=blind, more=more)

    def withdraw(self, run: int) -> Said:
        return self._post(f"/lead/imports/{run}")

    def add(self, names: Sequence[str], role: str) -> Said:
        return self._post("/lead/people", people="\n".join(names), role=role)

    def invite(self, name: str) -> Said:
        return self._act(name, "invite").then(lambda page: re.findall(r'value="[^"]*/join#([\w-]+)"', page.text)[0])

    def _act(self, name: str, act: str, **fields: Any) -> Said:
        return self._post(f"/lead/people/{name}/{act}", **fields)

    def revoke(self, name: str) -> Said:
        return self._act(name, "revoke")

    def retire(self, name: str) -> Said:
        return self._act(name, "retire")

    def dismiss(self, name: str, reason: str = "") -> Said:
        return self._act(name, "dismiss", reason=reason)

    def forget(self, name: str) -> Said:
        return self._act(name, "forget")

    def change_role(self, name: str, role: str) -> Said:
        return self._act(name, "role", role=role)

    def hand_over(self, name: str, to: str = "", last: int | None = None) -> Said:
        return self._act(name, "hand-over", to=to, n="" if last is None else str(last))

    def let_on(self, name: str) -> Said:
        return self._act(name, "let-on")

    def note(self, text: str, pair: int | None = None) -> Said:
        return self._post("/lead/notes", text=text, pair="" if pair is None else str(pair))

    def start_calibration(self, pairs: int) -> Said:
        return self._post("/lead/calibration/start", pairs=str(pairs))

    def open_discussion(self, *, early: bool = False) -> Said:
        return self._post("/lead/calibration/discuss", early=early)

    def close_calibration(self, *, early: bool = False) -> Said:
        return self._post("/lead/calibration/close", early=early)

    def explain(self, pair: int) -> Said:
        return self._page(self.client(LEAD).get(f"/lead/pair/{pair}"))

    def release(self, tier: str) -> Said:
        return self._post("/lead/download/partition", tier=tier, form="csv", columns="fcpair")

    def edit_guidelines(self, body: str) -> Said:
        return self._post("/lead/guidelines", body=body, act="save", version=str(self.study.guidelines[0]))

    def set_diamond(self, rule: str, *, seen: str = "") -> Said:
        form = re.search(r'name="seen" value="(\w*)"', self.client(LEAD).get("/lead/tiers").text)
        assert form
        return self._post("/lead/tiers", diamond=rule, seen=seen or form[1])


DOORS: dict[str, type[Door]] = {door.name: door for door in (PythonDoor, CommandDoor, ApiDoor, PageDoor)}


def at_each_door(*acts: str, stage: str, but: str = "") -> pytest.MarkDecorator:
    """Run a test of these acts at each door that has them all, `but` one, on the study after a stage."""
    names = [name for name in DOORS if name != but and all(name in ACTS[act] for act in acts)]
    return pytest.mark.parametrize("door", [(name, stage) for name in names], indirect=True, ids=names)


def done(said: Said) -> Any:
    """What a door gave when it did what was asked."""
    assert said.ok, said.message
    return said.value
