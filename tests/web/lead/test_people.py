"""People are added on the lead's page, one or a list, all or none; their links are shown once."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from urllib.parse import unquote

import pytest
import segno
from fastapi.testclient import TestClient
from steps.online import at_desk, give
from steps.small import dump, open_work

from fcpair.errors import InputError
from fcpair.records import Role
from fcpair.web.languages import ENGLISH, LANGUAGES
from fcpair.web.lead import people as people_page
from fcpair.web.lead.people import HELLO, YOURS_ALONE, parse_people
from web.conftest import Site, csrf_of
from web.lead.test_lead import post


def send(browser: TestClient, people: str, role: str = "annotator") -> tuple[int, str]:
    answer = browser.post("/lead/people", data={"csrf": csrf_of(browser), "people": people, "role": role})
    return answer.status_code, unescape(answer.text)


def test_a_list_has_names_and_roles_by_comma_or_tab() -> None:
    pasted = "zoe\n\n  yan , validator\nxia\tadjudicator\r\n"
    expected = {"zoe": Role.WRITER, "yan": Role.VALIDATOR, "xia": Role.ADJUDICATOR}
    assert parse_people(pasted, Role.WRITER, set(), ENGLISH) == expected


def test_all_that_is_wrong_with_a_list_is_said_by_line() -> None:
    with pytest.raises(InputError) as raised:
        parse_people("ana\nzoe\nzoe\nyan, boss\n, writer\nmia, model", Role.ANNOTATOR, {"ana"}, ENGLISH)
    problems = str(raised.value).split("; ")
    assert [problem.partition(":")[0] for problem in problems if ":" in problem] == [
        "line 1",
        "line 3",
        "line 4",
        "line 6",
    ]
    assert "line 5 has no name" in problems
    assert "line 3: `zoe` is in the list already" in problems


def test_a_list_may_name_roles_and_separate_them_in_the_language_of_the_page() -> None:
    language = LANGUAGES["fa"]
    pasted = f"zoe\u060c {language.find('validator')}\nyan\u060c validator"
    expected = {"zoe": Role.VALIDATOR, "yan": Role.VALIDATOR}
    assert parse_people(pasted, Role.WRITER, set(), language) == expected


@pytest.mark.parametrize("empty", ["", "\n \n"])
def test_a_list_without_names_adds_nobody(empty: str) -> None:
    with pytest.raises(InputError, match="no name in the list"):
        parse_people(empty, Role.ANNOTATOR, set(), ENGLISH)


def test_people_of_a_list_are_added_and_their_links_let_in(site: Site) -> None:
    status, page = send(site.browser("lea"), "zoe\nyan, validator")
    assert status == 200
    assert "2 people added" in page
    links = dict(zip(("zoe", "yan"), re.findall(r'value="http://127.0.0.1:8000/join#([\w-]+)"', page), strict=True))
    for name, token in links.items():
        visitor = site.study.access.by_token(token)
        assert visitor is not None
        assert visitor.name == name
    roles = {one.name: one.role for one in site.study.people}
    assert (roles["zoe"], roles["yan"]) == (Role.ANNOTATOR, Role.VALIDATOR)
    assert all(run.by == "lea" for run in site.study.log()[-4:])


def test_the_links_are_a_table_and_in_a_mail_each(site: Site) -> None:
    _, page = send(site.browser("lea"), "zoe\n=yan, validator")
    table = re.search(r'href="data:text/csv;charset=utf-8,([^"]+)"', page)
    assert table
    rows = list(csv.reader(io.StringIO(unquote(table[1]), newline="")))
    assert [row[:2] for row in rows] == [["name", "role"], ["zoe", "annotator"], ["'=yan", "validator"]]
    mails = re.findall(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    assert [row[2] in mail for row, mail in zip(rows[1:], mails, strict=True)] == [True, True]


def test_a_mail_is_in_the_language_of_those_who_are_invited(site: Site) -> None:
    site.study.save_words(language="fa")
    _, page = send(site.browser("lea"), "zoe")
    mail = re.search(r'<textarea[^>]* lang="fa" dir="rtl"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
    assert mail
    assert mail[1].startswith(LANGUAGES["fa"].gettext(HELLO, name="zoe"))
    assert LANGUAGES["fa"].find(YOURS_ALONE) in mail[1]


CODES = re.compile(r'<img class="lead-code" src="(data:image/svg[^"]+)" alt="([^"]+)"')


def test_each_link_has_a_qr_code_on_this_page_only(site: Site) -> None:
    browser = site.browser("lea")
    answer = browser.post("/lead/people", data={"csrf": csrf_of(browser), "people": "zoe\nyan", "role": "annotator"})
    assert answer.headers["cache-control"] == "no-store"
    links = re.findall(r'value="(http://127.0.0.1:8000/join#[\w-]+)"', answer.text)
    codes = CODES.findall(unescape(answer.text))
    assert [alt.partition(":")[0] for _, alt in codes] == [f"QR code of the link of {name}" for name in ("zoe", "yan")]
    for link, (image, _) in zip(links, codes, strict=True):
        assert image == segno.make_qr(link, error="m").svg_data_uri(scale=4, border=4, light="#fff")
    assert "lead-code" not in browser.get("/lead/people").text


def test_many_links_come_without_codes_and_say_so(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people_page, "MOST_CODES", 1)
    _, page = send(site.browser("lea"), "zoe\nyan")
    assert "lead-code" not in page
    assert "QR codes are drawn for at most 1 links at a time" in page


@pytest.mark.parametrize("people", ["zoe\nana", "zoe\nzoe", "zoe\nyan, boss", "zoe\nyan/x", "zoe\nAna"])
def test_of_a_list_with_a_mistake_nobody_is_added_and_it_is_still_there(site: Site, people: str) -> None:
    browser = site.browser("lea")
    before = dump(site.study)
    status, page = send(browser, people)
    assert status == 422
    assert "Nobody was added: " in page
    assert f"{people}</textarea>" in page
    assert dump(site.study) == before


def test_a_list_that_is_sent_again_adds_nobody_again(site: Site) -> None:
    browser = site.browser("lea")
    assert send(browser, "zoe")[0] == 200
    before = dump(site.study)
    status, page = send(browser, "zoe")
    assert status == 422
    assert "line 1: `zoe` already takes part in the study; choose another pseudonym" in page
    assert dump(site.study) == before


def test_links_are_made_for_those_without_one(site: Site) -> None:
    browser = site.browser("lea")
    n = sum(not one.retired for one in site.study.people) - len(site.study.access.invited())
    assert f"Make links for {n} people without one" in browser.get("/lead/people").text
    page = browser.post("/lead/people/links", data={"csrf": csrf_of(browser)}).text
    assert len(re.findall(r'value="http://127.0.0.1:8000/join#', page)) == n
    assert "without one" not in browser.get("/lead/people").text
    assert browser.post("/lead/people/links", data={"csrf": csrf_of(browser)}).status_code == 409


def test_a_role_is_changed_after_it_was_asked(site: Site) -> None:
    site.study.add_people(["zoe"], Role.VALIDATOR)
    browser = site.browser("lea")
    asked = browser.get("/lead/people/zoe/role").text
    assert ">validator</option>" not in asked
    assert "Done: " in re.sub("<[^>]+>", "", post(browser, "/lead/people/zoe/role", role="adjudicator"))
    assert next(one.role for one in site.study.people if one.name == "zoe") is Role.ADJUDICATOR
    for role in ("model", "boss"):
        data = {"csrf": csrf_of(browser), "role": role}
        assert browser.post("/lead/people/zoe/role", data=data).status_code == 422


def test_somebody_is_dismissed_once_after_it_was_asked(site: Site) -> None:
    give(*at_desk(site.study, "ana"), "appropriate")
    browser = site.browser("lea")
    assert "What they answered (1) is withdrawn" in browser.get("/lead/people/ana/dismiss").text
    assert "1 answer was set aside" in post(browser, "/lead/people/ana/dismiss")
    assert next(one.retired for one in site.study.people if one.name == "ana")
    before = dump(site.study)
    assert browser.post("/lead/people/ana/dismiss", data={"csrf": csrf_of(browser)}).status_code == 409
    assert dump(site.study) == before


def test_a_part_of_the_open_work_is_handed_over(site: Site) -> None:
    browser = site.browser("lea")
    had = sorted(pair for who, pair in open_work(site.study) if who == "ana")
    assert f"empty for all {len(had)}" in browser.get("/lead/people/ana/hand-over").text
    assert "3 open assignments were taken back" in post(browser, "/lead/people/ana/hand-over", n="3", to="")
    assert sum(who == "ana" for who, _ in open_work(site.study)) == len(had) - 3
    before = dump(site.study)
    for n in ("0", str(len(had)), "some"):
        data = {"csrf": csrf_of(browser), "n": n, "to": ""}
        assert browser.post("/lead/people/ana/hand-over", data=data).status_code == 422
    assert dump(site.study) == before


def test_the_table_says_when_somebody_was_seen_and_consented(site: Site) -> None:
    give(*at_desk(site.study, "ana"), "appropriate")
    page = site.browser("lea").get("/lead/people").text
    row = re.search(r'<tr><th scope="row">ana</th>.*?</tr>', page, re.DOTALL)
    assert row
    assert row[0].count("<time datetime=") == 2


def test_who_is_to_be_added_comes_with_their_role(site: Site) -> None:
    page = site.browser("lea").get("/lead/people?role=validator").text
    assert '<details id="add" open>' in page
    assert '<option value="validator" selected>validator</option>' in page
