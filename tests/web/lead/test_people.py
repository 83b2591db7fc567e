"""People on the lead's page: added one by one or as a list, invited, given other roles, dismissed, forgotten."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest
import segno
from fastapi.testclient import TestClient
from steps.answers.test_writing import grade, piloted
from steps.online import at_desk, give
from steps.small import dump

from fcpair.errors import InputError
from fcpair.params import Annotate
from fcpair.records import Role
from fcpair.web.app import create_app
from fcpair.web.languages import ENGLISH, LANGUAGES
from fcpair.web.lead import people as people_page
from fcpair.web.lead.people import HELLO, YOURS_ALONE, parse_people
from web.conftest import Serve, Site, page_of, post, send

LINK = re.compile(r'value="http://127.0.0.1:8000/join#([\w-]+)"')


def add(browser: TestClient, people: str, role: str = "annotator") -> tuple[int, str]:
    answer = send(browser, "/lead/people", people=people, role=role)
    return answer.status_code, unescape(answer.text)


def lets_in(site: Site, token: str, name: str) -> bool:
    visitor = site.study.access.by_token(token)
    return visitor is not None and visitor.name == name


def test_a_list_has_names_and_roles_by_comma_or_tab_or_as_the_language_has_them() -> None:
    pasted = "zoe\n\n  yan , validator\nxia\tadjudicator\r\n"
    people = {"zoe": Role.WRITER, "yan": Role.VALIDATOR, "xia": Role.ADJUDICATOR}
    assert parse_people(pasted, Role.WRITER, set(), ENGLISH) == people
    persian = LANGUAGES["fa"]
    pasted = f"zoe\u060c {persian.find('validator')}\nyan\u060c validator"
    assert parse_people(pasted, Role.WRITER, set(), persian) == dict.fromkeys(("zoe", "yan"), Role.VALIDATOR)


def test_all_that_is_wrong_with_a_list_is_said_by_line() -> None:
    with pytest.raises(InputError) as refusal:
        parse_people("ana\nzoe\nzoe\nyan, boss\n, writer\nmia, model", Role.ANNOTATOR, {"ana"}, ENGLISH)
    problems = str(refusal.value).split("; ")
    lines = [problem.partition(":")[0] for problem in problems if ":" in problem]
    assert lines == ["line 1", "line 3", "line 4", "line 6"]
    assert "line 5 has no name" in problems
    assert "line 3: `zoe` is in the list already" in problems
    for empty in ("", "\n \n"):
        with pytest.raises(InputError, match="no name in the list"):
            parse_people(empty, Role.ANNOTATOR, set(), ENGLISH)


CODES = re.compile(r'<img class="lead-code" src="(data:image/svg[^"]+)" alt="([^"]+)"')


def test_people_of_a_list_are_added_and_get_links_as_table_mails_and_qr_codes_once(site: Site, lea: TestClient) -> None:
    answer = send(lea, "/lead/people", people="zoe\n=yan, validator", role="annotator")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    html = unescape(answer.text)
    assert "2 people added" in html
    tokens = LINK.findall(html)
    assert [lets_in(site, token, name) for name, token in zip(("zoe", "=yan"), tokens, strict=True)] == [True, True]
    roles = {person.name: person.role for person in site.study.people}
    assert (roles["zoe"], roles["=yan"]) == (Role.ANNOTATOR, Role.VALIDATOR)
    assert all(run.by == "lea" for run in site.study.log()[-4:])
    table = re.search(r'href="data:text/csv;charset=utf-8,([^"]+)"', html)
    assert table
    rows = list(csv.reader(io.StringIO(unquote(table[1]), newline="")))
    assert [row[:2] for row in rows] == [["name", "role"], ["zoe", "annotator"], ["'=yan", "validator"]]
    mails = re.findall(r"<textarea[^>]*>(.*?)</textarea>", html, re.DOTALL)
    assert [row[2] in mail for row, mail in zip(rows[1:], mails, strict=True)] == [True, True]
    codes = CODES.findall(html)
    assert [alt.partition(":")[0] for _, alt in codes] == [f"QR code of the link of {name}" for name in ("zoe", "=yan")]
    for token, (image, _) in zip(tokens, codes, strict=True):
        code = segno.make_qr(f"http://127.0.0.1:8000/join#{token}", error="m")
        assert image == code.svg_data_uri(scale=4, border=4, light="#fff")
    assert "lead-code" not in page_of(lea, "/lead/people")


def test_a_mail_is_in_the_language_of_those_who_are_invited(site: Site, lea: TestClient) -> None:
    site.study.save_words(language="fa")
    _, html = add(lea, "zoe")
    mail = re.search(r'<textarea[^>]* lang="fa" dir="rtl"[^>]*>\n(.*?)</textarea>', html, re.DOTALL)
    assert mail
    assert mail[1].startswith(LANGUAGES["fa"].gettext(HELLO, name="zoe"))
    assert LANGUAGES["fa"].find(YOURS_ALONE) in mail[1]


def test_many_links_come_without_codes_and_say_so(lea: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people_page, "MOST_CODES", 1)
    _, html = add(lea, "zoe\nyan")
    assert "lead-code" not in html
    assert "QR codes are drawn for at most 1 links at a time" in html


def test_of_a_list_with_a_mistake_nobody_is_added_and_it_is_still_there(site: Site, lea: TestClient) -> None:
    before = dump(site.study)
    for people in ("zoe\nana", "zoe\nyan, boss"):
        status, html = add(lea, people)
        assert status == 422
        assert "Nobody was added: line 2: " in html
        assert f"{people}</textarea>" in html
    assert "line 2: <code>boss</code> is no role" in html
    assert dump(site.study) == before


def test_links_are_made_for_those_without_one(site: Site, lea: TestClient) -> None:
    n = sum(not person.retired for person in site.study.people) - len(site.study.access.invited())
    assert f"Make links for {n} people without one" in page_of(lea, "/lead/people")
    assert len(LINK.findall(send(lea, "/lead/people/links").text)) == n
    assert "without one" not in page_of(lea, "/lead/people")
    assert send(lea, "/lead/people/links").status_code == 409


def test_an_invite_link_leads_where_people_reach_the_server_whatever_a_request_names(site: Site) -> None:
    app = create_app(site.study, Annotate(), "https://labels.example.org/")
    browser = TestClient(app, follow_redirects=False, base_url="http://evil.example")
    browser.post("/join", data={"token": site.token("lea")})
    html = send(browser, "/lead/people/ben/invite").text
    (token,) = re.findall(r'value="https://labels\.example\.org/join#([\w-]+)"', html)
    assert "evil.example" not in html
    assert token not in page_of(browser, "/lead/people")  # it is shown once


def test_a_role_is_changed_after_it_was_asked(site: Site, lea: TestClient) -> None:
    site.study.add_people(["zoe"], Role.VALIDATOR)
    assert ">validator</option>" not in page_of(lea, "/lead/people/zoe/role")
    assert "Done: " in re.sub("<[^>]+>", "", post(lea, "/lead/people/zoe/role", role="adjudicator"))
    assert next(person.role for person in site.study.people if person.name == "zoe") is Role.ADJUDICATOR
    for role in ("model", "boss"):
        assert send(lea, "/lead/people/zoe/role", role=role).status_code == 422
    html = page_of(lea, "/lead/people?role=validator")  # whoever is to be added comes with their role
    assert '<section id="add"' in html
    assert '<option value="validator" selected>validator</option>' in html


def test_acts_on_a_person_are_asked_about_and_then_say_what_was_done(site: Site, lea: TestClient) -> None:
    give(*at_desk(site.study, "ana"), "appropriate")
    assert page_of(lea, "/lead/people/ana").count("<time datetime=") == 2  # consented and was seen
    before = dump(site.study)
    for act, asked in {
        "retire": "13 open pairs",
        "hand-over": "Empty for all 13",
        "dismiss": "What they answered (1) is withdrawn",
    }.items():
        assert asked in page_of(lea, f"/lead/people/ana/{act}")
    assert send(lea, "/lead/people/ana/hand-over", n="some", to="").status_code == 422
    assert dump(site.study) == before
    assert "3 open assignments were taken back" in post(lea, "/lead/people/ana/hand-over", n="3", to="")
    assert "1 answer was set aside" in post(lea, "/lead/people/ana/dismiss")
    assert send(lea, "/lead/people/ana/dismiss").status_code == 409
    assert "open assignments were taken back" in post(lea, "/lead/people/ben/retire")


def test_names_of_all_kinds_have_their_pages_and_nobody_else(site: Site, lea: TestClient) -> None:
    for path in ("/lead/people/nobody/retire", "/lead/people/ana/praise"):
        assert lea.get(path).status_code == 404
    site.study.add_people(["نور & <b>#1?"], Role.ANNOTATOR)
    html = lea.get("/lead/people").text
    address = re.search(r'href="(/lead/people/%D9[^"]+/retire)"', html)
    assert address
    assert lea.get(address[1]).status_code == 200
    assert "<b>#1" not in html


def test_a_column_in_which_nobody_has_anything_is_not_shown(site: Site, lea: TestClient) -> None:
    for column in ("Last seen", "Agreement</th>", "Decided", "Withdrawn", "Consent"):
        assert column not in page_of(lea, "/lead/people")
    give(*at_desk(site.study, "ana"), "appropriate")
    assert "Last seen" in page_of(lea, "/lead/people")


def test_the_page_of_a_person_has_consent_limits_and_acts_and_nothing_that_they_said_of_themselves(site: Site) -> None:
    ana = next(person for person in site.study.people if person.name == "ana")
    site.study.access.consent(ana.id, {"Age": "exactly forty-one"}, "I have read this.")
    site.study.save_terms(daily_limit=40)
    lea = Site(site.study, site.study.effective_options(Annotate)).browser("lea")
    html = page_of(lea, "/lead/people/ana")
    assert "of 40 at most" in html
    assert "I have read this." in html
    assert "forty-one" not in html
    assert [
        act for act in ("invite", "retire", "role", "hand-over", "forget") if f"/lead/people/ana/{act}" not in html
    ] == []
    assert "/lead/people/lea/retire" not in page_of(lea, "/lead/people/lea")
    assert lea.get("/lead/people/nobody").status_code == 404


def test_people_shows_who_passed_the_pilot_and_leads_to_assigning_the_round(tmp_path: Path) -> None:
    study = piloted(tmp_path)
    study.add_people(["lea"], Role.LEAD)
    site = Site(study, Annotate())
    browser = site.browser("lea")
    assert "<td>yes</td>" not in page_of(browser, "/lead/panel/pilots?grid=write")
    grade(study)
    html = page_of(browser, "/lead/panel/pilots?grid=write")
    assert "3 of 4 people passed: 2 texts judged good in the grid grade are needed" in html
    assert html.count("<td>yes</td>") == 3
    assert 'href="/lead?grid=write#rounds"' in html
    assert "Who has passed the pilot" in page_of(browser, "/lead/people?grid=write&view=pilots")
    assert "view=pilots" in page_of(browser, "/lead/people?grid=write")
    assert "view=pilots" not in page_of(browser, "/lead/people?grid=grade")
    site.close()


def test_what_is_forgotten_and_what_is_kept_is_said_before(serve: Serve) -> None:
    browser = serve("labelled").browser("lea")
    html = page_of(browser, "/lead/people/ana/forget")
    assert "<strong>Deleted for good:</strong> what ana said about themselves" in html
    assert "<strong>Kept:</strong> the pseudonym ana, their answers" in html
    assert "Backups and other copies" in html
    assert "what ana said about themselves was deleted, by lea" in post(browser, "/lead/people/ana/forget")
