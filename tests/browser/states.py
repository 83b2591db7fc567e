"""Every page of the app in the states that matter: who sees it, at which stage of the study, after which acts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, expect
from steps.online import admit
from steps.people.known import assign_with_known_pairs

from browser import acts
from fcpair.grid import AdjudicationQueue, Monitor
from fcpair.params import Evaluate, Simulate, Validate
from fcpair.records import Role
from fcpair.study import Study
from fcpair.work_records import DecisionRequest

Act = Callable[[Page], None]
NOBODY = ""
USE_MAJORITY = "Use “majority” in place of “unanimous”"
DISCARDING = "/lead/conflicts/policy?policy=majority&ties=discard"


def look(page: Page) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class State:
    """A page, asked for at `path`, as `who` sees it after `act`; `before` is done to the study first."""

    name: str
    who: str
    path: str
    stage: str = "dealt"
    act: Act = look
    consent: bool = True
    status: int = 200
    before: Callable[[Study], object] | None = None

    @property
    def only_looks(self) -> bool:
        """Whether nothing is done to the study, nor on the page, so that others may look at the same."""
        return self.before is None and self.act in {look, acts.await_pair}


def discuss(study: Study) -> None:
    study.add_people(["dora"], Role.ANNOTATOR)
    grid = study.grid()
    grid.calibration.start(pairs=4, seed=2)
    grid.simulate(Simulate(accuracy=0.5, skips=0, seed=1))
    grid.calibration.open_discussion()


def blindly(study: Study) -> None:
    study.grid().assign_validation(Validate(blind=True, seed=1), redo=True)


def hidden_for(name: str, first: Callable[[Study], object] = lambda study: None) -> Callable[[Study], None]:
    """Somebody has each HS hidden until they ask for it; something else is done `first`."""

    def hide(study: Study) -> None:
        first(study)
        study.access.set_blurred(next(one.id for one in study.people if one.name == name), True)

    return hide


def flag(study: Study) -> None:
    """Somebody noted that the guidelines should say more."""
    grid = study.grid()
    judy = admit(study, "judy")
    case = AdjudicationQueue(grid).next(judy.id)
    assert case is not None
    AdjudicationQueue(grid).decide(
        judy.id, DecisionRequest("request-flag", case.cell_id, "appropriate", "What of irony?", True)
    )


def flag_at_sentence(study: Study) -> None:
    flag(study)
    grid = study.grid()
    (first,) = Monitor(grid).flags()
    grid.desk.place_flag(first.cell_id, grid.desk.guideline_sentences()[0])


def topics(study: Study) -> None:
    with study._store.write() as tx:
        tx.exec_driver_sql("UPDATE text SET meta = json_object('topic', CASE WHEN id % 2 THEN 'odd' ELSE 'even' END)")


def evaluate(study: Study) -> None:
    study.grid().evaluate(Evaluate(systems=("random",), resamples=100, seed=1))


def practise(study: Study) -> None:
    study.save_practice(
        items=({"row": "Cats are dull.", "column": "Mine juggles.", "answer": "appropriate", "explanation": "A case."},)
    )


def qualified_with(accuracy: float) -> Callable[[Study], None]:
    """Simulated people have answered all, known pairs included, with this accuracy."""

    def qualify(study: Study) -> None:
        with TemporaryDirectory() as folder:
            assign_with_known_pairs(study, Path(folder))
        study.grid().simulate(Simulate(accuracy=accuracy, not_sure=0.0, skips=0.0))

    return qualify


def decide_all(study: Study) -> None:
    grid = study.grid()
    judy = admit(study, "judy")
    for pair in grid.waiting_pairs():
        AdjudicationQueue(grid).decide(judy.id, DecisionRequest(f"request-{pair:04}", pair, "appropriate"))


def click(name: str, seen: str = "main", fields: dict[str, str] | None = None) -> Act:
    """Fill in fields, by their labels, then click a button of that name, which shows something."""

    def act(page: Page) -> None:
        for label, text in (fields or {}).items():
            page.get_by_label(label).fill(text)
        page.locator("main").get_by_role("button", name=name, exact=True).click()
        expect(page.locator(seen).first).to_be_visible()

    return act


def key(letter: str, selector: str) -> Act:
    def act(page: Page) -> None:
        acts.await_pair(page)
        page.keyboard.press(letter)
        expect(page.locator(selector)).to_be_visible()

    return act


def answered(page: Page) -> None:
    acts.answer(page, "appropriate")
    acts.await_sent(page)
    key("u", "#earlier")(page)


def blurred(page: Page) -> None:
    acts.await_pair(page)
    page.locator("#blur-choice").check()
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "true")


def open_drawer(page: Page) -> None:
    page.get_by_role("link", name="ana", exact=True).click()
    expect(page.get_by_role("dialog", name="ana")).to_contain_text("Link and consent")


def keys(page: Page) -> None:
    page.locator("summary", has_text="Keys").click()


def unsent(page: Page) -> None:
    acts.await_pair(page)
    acts.intercept(page, acts.SUBMIT, lambda route: route.abort())
    acts.answer(page, "appropriate")
    expect(page.locator("#banner-text")).to_contain_text("Not sent yet")


def without_consent(page: Page) -> None:
    """Send the form of the first visit without the tick; the browser's own check is off."""
    page.locator("form[action='/welcome']").evaluate("(form) => (form.noValidate = true)")
    click("Begin", "[role=alert]")(page)


def versions(page: Page) -> None:
    for summary in page.locator("section summary").all():
        summary.click()


def decided(page: Page) -> None:
    first = page.locator("#case-name").inner_text()
    page.locator("#note").fill("They answer another claim.")
    page.locator("[name=flagged]").check()
    page.locator("[name=outcome][value=appropriate]").click()
    expect(page.locator("#case-name")).not_to_have_text(first)
    acts.await_sent(page)


def decided_list(page: Page) -> None:
    decided(page)
    page.goto("/adjudicate/decided")


def taken_back(page: Page) -> None:
    decided(page)
    acts.decide(page, "[data-key=u]")


def decided_in_row(page: Page) -> None:
    acts.press(page, "3")
    expect(page.locator(".row-decided:visible")).to_have_count(1)
    acts.await_sent(page)
    page.keyboard.press("n")


def withdraw(page: Page) -> None:
    page.get_by_role("link", name=re.compile("Withdraw run")).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Withdraw the answers of run")


def withdrawn(page: Page) -> None:
    withdraw(page)
    page.get_by_role("button", name=re.compile(r"Withdraw \d+ answers")).click()
    expect(page.get_by_role("cell", name="withdrawn", exact=True)).to_be_visible()


GUIDELINES = "# One\n\n| a | b |\n|:--|--:|\n| 1 | 2 |\n\n> said\n\n`code`\n"
PREVIEW = click("Preview", ".lead-preview", {"Text, in Markdown": GUIDELINES})
LOOSEN = click(
    "Show what would change",
    ".notice.warning",
    {"Pairs that one person may read in a day": "", "Sentence that people agree to": "I agree."},
)
RENAME = click(
    "Show what would follow",
    ".notice.warning",
    {"Labels": "appropriate", "New names": "suitable", "Reason": "It was misread."},
)
NO_REASON = click("Show what would follow", "[role=alert]", {"Labels": "appropriate", "New names": "suitable"})
EXTEND = click("Show what it would do", "#would", {"Further HS to draw": "2"})
TOO_MANY_HS = click("Show what it would do", "[role=alert]", {"Further HS to draw": "99"})
ASK_FURTHER = click("Set the rules", "main", {"More people where labels tie": "1"})
ADD = "Add and invite them"


def extend_the_grid(study: Study) -> None:
    """Let it take another HS."""
    study.grid().extend(hs=1)


def rename_a_label(study: Study) -> None:
    """Give a label another name."""
    study.grid().relabel(kind="rename", labels=["not_sure"], into=["unclear"], reason="It is shorter.")


def explain(page: Page) -> None:
    """Have a term explained."""
    page.locator("button.term").first.click()
    page.locator(".term-text:popover-open").wait_for()


WRONG_NUMBER = click("Assign the pairs", "[aria-invalid]", {"How many pairs": "some"})
LOOK_AT_ITEMS = click("Look at them", "button:has-text('Let people practise on it')")
NONSENSE = click("Look at them", "[role=alert]", {"A table of known pairs": "one,two\n1,2\n"})


def send_file(button: str, name: str, make: Callable[[Page, Path], object]) -> Act:
    """Send a file that is made, and wait for the page that it leads to."""

    def act(page: Page) -> None:
        with TemporaryDirectory() as folder:
            make(page, path := Path(folder) / name)
            page.locator("input[type=file]").set_input_files(path)
            before = page.url
            page.get_by_role("button", name=button).click()
            page.wait_for_url(lambda url: url != before)

    return act


def write_labels(page: Page, path: Path) -> None:
    path.write_text("pair,annotator,label\n1,ana,perhaps\n2,ana,0\n")


def make_release(page: Page, name: str = "v1") -> None:
    page.goto("/lead/releases/form")
    page.locator("[name=name]").fill(name)
    page.locator("[name=draft]").check()
    page.get_by_role("button", name="Make the release").click()
    page.get_by_role("button", name=f"Download {name}.zip").wait_for()


def refuse_release(page: Page) -> None:
    page.locator("#name").fill("v1")
    click("Make the release", "[role=alert]")(page)


def check_release(page: Page) -> None:
    make_release(page)
    page.get_by_role("button", name="Actions on v1").click()
    page.get_by_role("link", name="Check it").click()
    page.get_by_role("status").wait_for()


def compare_releases(page: Page) -> None:
    make_release(page)
    page.locator(".scroll").wait_for()
    page.goto("/lead/releases/form")
    page.locator("[name=title]").fill("Another")
    page.get_by_role("button", name="Keep the form").click()
    make_release(page, "v2")
    page.get_by_role("button", name="Show the differences").click()
    page.locator(".empty").wait_for()


LOOK_THROUGH = send_file("Send and look through", "labels.csv", write_labels)

PAGES: dict[str, tuple[State, ...]] = {
    "/join": (
        State("the door", NOBODY, "/join"),
        State("the door shut", NOBODY, "/join#wrong", act=lambda page: page.get_by_role("alert").wait_for()),
    ),
    "/welcome": (
        State("first visit", "ana", "/welcome", consent=False),
        State("first visit without consent", "ana", "/welcome", consent=False, act=without_consent),
        State("first visit of a validator", "vera", "/welcome", "checking", consent=False),
        State("first visit of an adjudicator", "judy", "/welcome", "labelled", consent=False),
    ),
    "/guidelines": (State("guidelines", "ana", "/guidelines"), State("guidelines for a lead", "lea", "/guidelines")),
    "/settings": (
        State("settings", "ana", "/settings"),
        State("settings saved", "ana", "/settings", act=click("Save")),
        State("settings of an adjudicator", "judy", "/settings"),
        State("settings of a lead", "lea", "/settings"),
    ),
    "/annotate": (
        State("open pair", "ana", "/annotate", act=acts.await_pair),
        State("hidden HS", "ana", "/annotate", act=blurred),
        State("guidelines over a pair", "ana", "/annotate", act=key("g", "#guidelines")),
        State("pause", "ana", "/annotate", act=key("p", "#pause-screen")),
        State("keys", "ana", "/annotate", act=keys),
        State("earlier answer", "ana", "/annotate", act=answered),
        State("unsent answer", "ana", "/annotate", act=unsent),
        State("first visit by the desk's address", "ana", "/annotate", consent=False),
    ),
    "/practice": (
        State("a known pair", "ana", "/practice", before=practise),
        State("a known pair, explained", "ana", "/practice?answer=appropriate", before=practise),
        State("a known pair, answered otherwise", "ana", "/practice?answer=not_sure", before=practise),
        State("end of the practice", "ana", "/practice?n=9", before=practise),
    ),
    "/qualification": (
        State("a qualification passed", "ana", "/qualification", before=qualified_with(1.0)),
        State("below the pass mark", "ana", "/qualification", before=qualified_with(0.0)),
    ),
    "/validate": (
        State("label to check", "vera", "/validate", "checking", act=acts.await_pair),
        State("blind", "vera", "/validate", "checking", act=acts.await_pair, before=blindly),
    ),
    "/discussion": (
        State("nothing to discuss", "ana", "/discussion"),
        State("a discussion", "ana", "/discussion", "paired", before=discuss),
        State("a discussion with hidden HS", "ana", "/discussion", "paired", before=hidden_for("ana", discuss)),
        State("a discussion for a lead", "lea", "/discussion", "paired", before=discuss),
    ),
    "/offline": (State("no connection", "ana", "/offline"),),
    "/offline/form": (State("form not sent", "ana", "/offline/form"),),
    "/offline/leave": (State("not left", "ana", "/offline/leave"),),
    "/thanks": (
        State("end of a day", "ana", "/thanks"),
        State("end of it all", "ana", "/thanks", "labelled"),
        State("end of an adjudicator's day", "judy", "/thanks", "labelled"),
    ),
    "/adjudicate": (
        State("conflict", "judy", "/adjudicate", "labelled"),
        State("next conflict", "judy", "/adjudicate", "labelled", act=decided),
        State("conflict with guidelines", "judy", "/adjudicate", "labelled", act=key("g", "#guidelines")),
        State("conflict with a hidden HS", "judy", "/adjudicate", "labelled", before=hidden_for("judy")),
        State("pause of an adjudicator", "judy", "/adjudicate", "labelled", act=key("p", "#pause-screen")),
        State("decision taken back", "judy", "/adjudicate", "labelled", act=taken_back),
        State("nothing waits", "judy", "/adjudicate"),
    ),
    "/adjudicate/row": (
        State("all of a row", "judy", "/adjudicate/row", "labelled"),
        State("all of a row, one decided", "judy", "/adjudicate/row", "labelled", act=decided_in_row),
        State("all of a row, hidden", "judy", "/adjudicate/row", "labelled", before=hidden_for("judy")),
        State("keys of a row", "judy", "/adjudicate/row", "labelled", act=keys),
        State("nothing left of a row", "judy", "/adjudicate/row?pair=1", "labelled", before=decide_all),
    ),
    "/adjudicate/decided": (
        State("nothing decided", "judy", "/adjudicate/decided"),
        State("decided", "judy", "/adjudicate", "labelled", act=decided_list),
        State("decided, not found", "judy", "/adjudicate/decided?words=zebra", "decided"),
        State("decided, hidden", "judy", "/adjudicate/decided", "checked", before=hidden_for("judy")),
    ),
    "/adjudicate/{cell_id}": (
        State("a pair without labels", "judy", "/adjudicate/1", status=409),
        State("a pair that is not there", "judy", "/adjudicate/999", "labelled", status=404),
    ),
    "/lead": (
        State("overview of open work", "lea", "/lead"),
        State("overview with a flag", "lea", "/lead", "labelled", before=flag),
        State("overview of a finished study", "lea", "/lead", "checked"),
        State("a term explained", "lea", "/lead", "checked", act=explain),
    ),
    "/lead/agreement": (
        State("agreement without labels", "lea", "/lead/agreement"),
        State("agreement", "lea", "/lead/agreement", "checked"),
        State("agreement by metadata", "lea", "/lead/agreement?by=row+topic", "checked", before=topics),
    ),
    "/lead/calibration": (
        State("no calibration", "lea", "/lead/calibration", "paired"),
        State("a calibration that cannot be", "lea", "/lead/calibration", act=click("Start the calibration")),
        State("a calibration under discussion", "lea", "/lead/calibration", "paired", before=discuss),
    ),
    "/lead/grid": (
        State("no grid", "lea", "/lead/grid", "empty"),
        State("grid", "lea", "/lead/grid", "checked"),
        State("pairs of a search", "lea", "/lead/grid?words=cats&person=ana&skipped=no", "checked"),
        State("a search without a match", "lea", "/lead/grid?words=cats&state=open", "checked"),
        State("a search that is refused", "lea", "/lead/grid?tier=golden", "checked", status=422),
        State("a search by metadata", "lea", "/lead/grid?cn.cn_type=plain", "checked"),
        State("a part of the map", "lea", "/lead/grid?map.state=5&area=1-2.2-5&sort=-tier", "checked"),
        State("other columns", "lea", "/lead/grid?show=cn,labels,map.agreement,cn.cn_type", "checked"),
    ),
    "/lead/grid/act/{act}": (
        State("another label", "lea", "/lead/grid/act/labels?words=cats&scope=all", "checked"),
        State("a person's decision", "lea", "/lead/grid/act/decisions?words=&scope=all", "checked"),
        State("nothing ticked", "lea", "/lead/grid/act/decisions?words=&scope=ticked", "checked", status=422),
    ),
    "/lead/imports": (State("no imports", "lea", "/lead/imports"), State("imports", "lea", "/lead/imports", "checked")),
    "/lead/notes": (
        State("no notes", "lea", "/lead/notes"),
        State("a note that is empty", "lea", "/lead/notes", act=click("Add the note")),
    ),
    "/lead/imports/{number}": (
        State("an import to be withdrawn", "lea", "/lead/imports", "labelled", act=withdraw),
        State("an import withdrawn", "lea", "/lead/imports", "labelled", act=withdrawn),
        State("no such import", "lea", "/lead/imports/999", status=404),
    ),
    "/lead/generate": (
        State("a round of people", "lea", "/lead/generate?round=label"),  # others: test_lead.py
    ),
    "/lead/acts": (State("nothing under way", "lea", "/lead/acts"),),  # others: test_lead.py
    "/lead/evaluation": (
        State("no evaluation", "lea", "/lead/evaluation"),
        State("evaluation", "lea", "/lead/evaluation", "checked", before=evaluate),
    ),
    "/lead/start/task": (State("a study to be started", "lea", "/lead", "empty"),),
    "/lead/start/table": (),  # these: test_start.py
    "/lead/start/recipe": (),
    "/lead/start/columns": (),
    "/lead/start/plan": (),
    "/lead/start/statements": (),
    "/lead/start/survey": (),
    "/lead/start/asking": (),
    "/lead/start/people": (),
    "/lead/start/guidelines": (),
    "/lead/start/begin": (),
    "/lead/start/progress": (),
    "/lead/help": (State("pages of the help", "lea", "/lead/help"),),
    "/lead/help/{name:path}": (
        State("help", "lea", "/lead/help/howto/lead"),
        State("glossary", "lea", "/lead/help/reference/glossary"),
    ),
    "/lead/start/links": (State("nobody left to invite", "lea", "/lead/start/links"),),
    "/lead/panel/{name}": (),  # parts of the overview
    "/lead/pair/{cell_id}": (
        State("pair without answers", "lea", "/lead/pair/1"),
        State("pair with answers", "lea", "/lead/pair/1", "checked"),
        State("no such pair", "lea", "/lead/pair/999", status=404),
    ),
    "/lead/components": (State("components", "lea", "/lead/components"),),
    "/lead/pair/{cell_id}/decide": (
        State("a conflict to decide", "lea", "/lead/pair/5/decide?from=conflicts", "decided"),
        State("nothing to decide", "lea", "/lead/pair/1/decide", "decided", status=409),
        State("conflict decided", "lea", "/lead/pair/5/decide?from=conflicts", "decided", act=click("3 appropriate")),
    ),
    "/lead/pair/{cell_id}/act/{act}": (
        State("a pair to be sent to an adjudicator", "lea", "/lead/pair/1/act/decisions", "checked"),
    ),
    "/lead/conflicts": (
        State("conflicts without data", "lea", "/lead/conflicts", "empty"),
        State("conflicts before a policy", "lea", "/lead/conflicts", "labelled"),
        State("conflicts", "lea", "/lead/conflicts", "decided"),
        State("conflicts filtered", "lea", "/lead/conflicts?person=ana&order=doubt", "decided"),
        State("no conflict matches", "lea", "/lead/conflicts?days=30", "decided"),
        State("no such reason", "lea", "/lead/conflicts?reason=agin", "decided", status=422),
    ),
    "/lead/conflicts/policy": (
        State("policy without data", "lea", "/lead/conflicts/policy", "empty"),
        State("policy", "lea", "/lead/conflicts/policy", "labelled"),
        State("policy applied", "lea", "/lead/conflicts/policy", "labelled", act=click("Apply the policy")),
        State("policy that discards", "lea", DISCARDING, "decided"),
        State("standing rules to be confirmed", "lea", "/lead/conflicts/policy", "labelled", act=ASK_FURTHER),
        State("policy to be confirmed", "lea", DISCARDING, "decided", act=click("Apply the policy")),
    ),
    "/lead/grid/extend": (
        State("extending without pairs", "lea", "/lead/grid/extend", "imported"),
        State("extending", "lea", "/lead/grid/extend", "labelled"),
        State("an extension to be confirmed", "lea", "/lead/grid/extend", "labelled", act=EXTEND),
        State("an extension that cannot be", "lea", "/lead/grid/extend", "labelled", act=TOO_MANY_HS),
        State("a grid that was extended", "lea", "/lead/grid/extend", "labelled", before=extend_the_grid),
    ),
    "/lead/conflicts/validation": (
        State("validation", "lea", "/lead/conflicts/validation", "decided"),
        State("validation under way", "lea", "/lead/conflicts/validation", "checking"),
        State("a wrong number", "lea", "/lead/conflicts/validation", "decided", act=WRONG_NUMBER),
    ),
    "/lead/tiers": (
        State("tiers", "lea", "/lead/tiers", "checked"),
        State("tiers without labels", "lea", "/lead/tiers"),
        State("rule of Diamond chosen", "lea", "/lead/tiers", "checked", act=click(USE_MAJORITY)),
    ),
    "/lead/labels": (
        State("labels", "lea", "/lead/labels", "labelled"),
        State("labels that were changed", "lea", "/lead/labels", "labelled", before=rename_a_label),
        State("a change of labels to be confirmed", "lea", "/lead/labels", "labelled", act=RENAME),
        State("a change without a reason", "lea", "/lead/labels", "labelled", act=NO_REASON),
    ),
    "/lead/people/overlap": (
        State("overlap", "lea", "/lead/people/overlap"),
        State("overlap to be raised", "lea", "/lead/people/overlap?share2=50&share3=25"),
        State("overlap that is no share", "lea", "/lead/people/overlap?share2=half", status=422),
    ),
    "/lead/words": (
        State("words", "lea", "/lead/words", "checking"),
        State("words with a preview", "lea", "/lead/words", act=click("Preview")),
    ),
    "/lead/terms": (
        State("terms", "lea", "/lead/terms"),
        State(
            "terms that loosen a limit",
            "lea",
            "/lead/terms",
            act=LOOSEN,
            before=partial(Study.save_terms, daily_limit=40),
        ),
    ),
    "/lead/people": (
        State("people", "lea", "/lead/people", "checking"),
        State("people, with a drawer", "lea", "/lead/people", "checking", act=open_drawer),
        State("what people answered", "lea", "/lead/people?view=labels", "checked"),
        State("how people agree", "lea", "/lead/people?view=with_others", "checked"),
        State("how fast people are", "lea", "/lead/people?view=speed", "checked"),
        State("what people have read", "lea", "/lead/people?view=exposure", "checked"),
        State("adding people", "lea", "/lead/people?role=validator"),
        State("people added", "lea", "/lead/people?role=validator", act=click(ADD, "main", {"Pseudonyms": "zoe\nyan"})),
        State("people below the pass mark", "lea", "/lead/people", before=qualified_with(0.0)),
        State("people not added", "lea", "/lead/people?role=validator", act=click(ADD, "main", {"Pseudonyms": "ana"})),
    ),
    "/lead/people/beside": (
        State("two people", "lea", "/lead/people/beside?person=ana&other=cleo", "checked"),
        State("two people who share no pair", "lea", "/lead/people/beside?person=ana&other=judy", "checked"),
        State("one person beside themselves", "lea", "/lead/people/beside?person=ana&other=ana", "checked", status=422),
    ),
    "/lead/people/{name}": (
        State("a person", "lea", "/lead/people/ana", "checked"),
        State("a person below the pass mark", "lea", "/lead/people/ana", before=qualified_with(0.0)),
        State("no such person", "lea", "/lead/people/nobody", status=404),
    ),
    "/lead/people/{name}/{act}": (
        State("retire", "lea", "/lead/people/ana/retire"),
        State("retired", "lea", "/lead/people/ana/retire", act=click("Retire")),
        State("hand over", "lea", "/lead/people/ana/hand-over"),
        State("dismiss", "lea", "/lead/people/ana/dismiss", "checked"),
        State("let begin", "lea", "/lead/people/ana/let-on", before=qualified_with(0.0)),
        State("forget", "lea", "/lead/people/ana/forget", "checked"),
        State("another role", "lea", "/lead/people/ana/role"),
        State("revoke", "lea", "/lead/people/vera/revoke"),
        State("invite", "lea", "/lead/people/ana/invite"),
        State("invite link shown", "lea", "/lead/people/ana/invite", act=click("Make the link")),
        State("nobody of that name", "lea", "/lead/people/nobody/retire", status=404),
    ),
    "/lead/guidelines": (
        State("guidelines with a preview", "lea", "/lead/guidelines", act=PREVIEW),
        State("versions", "lea", "/lead/guidelines", act=versions),
        State("a flag at its sentence", "lea", "/lead/guidelines", "labelled", before=flag_at_sentence, act=versions),
    ),
    "/lead/guidelines/practice": (
        State("no practice round", "lea", "/lead/guidelines/practice"),
        State("a practice round looked at", "lea", "/lead/guidelines/practice", act=LOOK_AT_ITEMS, before=practise),
        State("a table without columns", "lea", "/lead/guidelines/practice", act=NONSENSE),
    ),
    "/lead/answers": (State("no answers", "lea", "/lead/answers"), State("answers", "lea", "/lead/answers", "checked")),
    "/lead/examples": (State("no examples", "lea", "/lead/examples"),),  # others: test_lead.py
    "/lead/uploads": (State("uploads", "lea", "/lead/uploads"),),
    "/lead/uploads/{token}": (State("a file that is refused", "lea", "/lead/uploads", act=LOOK_THROUGH),),
    "/lead/releases": (
        State("no releases", "lea", "/lead/releases"),
        State("a release that was made", "lea", "/lead/releases", "checked", act=make_release),
    ),
    "/lead/releases/form": (
        State("the form of a release", "lea", "/lead/releases/form", "checked"),
        State("a form that is refused", "lea", "/lead/releases/form", act=refuse_release),
    ),
    "/lead/releases/check": (State("a release that is sound", "lea", "/lead/releases", "checked", act=check_release),),
    "/lead/releases/differences": (
        State("two releases compared", "lea", "/lead/releases", "checked", act=compare_releases),
    ),
    "/lead/downloads": (
        State("downloads", "lea", "/lead/downloads", "checked"),
        State("downloads of a new study", "lea", "/lead/downloads", "empty"),
    ),
}
"""The states of the page at each address that answers GET with a page."""

NO_PAGES = {
    "/",  # leads to another page
    "/lead/start",  # so does this
    "/lead/grid/map",
    "/lead/grid/pairs",
    "/lead/grid/pairs.csv",
    "/lead/grid/texts",
    "/lead/grid/{side}.csv",
    "/lead/releases/file/{token}",
    "/worker.js",
    "/manifest.webmanifest",
}
ELSEWHERE = (
    State("another's page", "ana", "/lead", status=403),
    State("an adjudicator at the desk", "judy", "/annotate", status=403),
    State("nothing there", "lea", "/nothing", status=404),
    State("nothing there for a stranger", NOBODY, "/nothing", status=404),
)
