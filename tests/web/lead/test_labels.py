"""The lead's page of labels: what would follow is said before it is done, and what is refused changes nothing."""

from __future__ import annotations

from html import unescape

from fastapi.testclient import TestClient
from steps.small import labels_of

from web.conftest import Serve, Site, page_of, send, value_of

LABELS = "/lead/labels"
RENAME = {"kind": "rename", "labels": "appropriate", "into": "suitable", "reason": "It was misread."}


def test_a_change_says_what_would_follow_and_is_then_done_once(serve: Serve) -> None:
    site = serve("labelled")
    lea = site.browser("lea")
    html = unescape(page_of(lea, LABELS))
    assert "not_appropriate" in html
    assert "confirmed" not in html
    preview = send(lea, LABELS, **RENAME).text
    would = "the label `appropriate` is called `suitable`; 19 answers to 12 pairs read differently from now on"
    assert "is called <code>suitable</code>; 19 answers to 12 pairs read differently" in unescape(preview)
    assert value_of(preview, "confirmed") == would
    assert "appropriate" in labels_of(site.study).values(), "nothing is done before it is confirmed"
    reply = send(lea, LABELS, **RENAME, confirmed=would)
    run = site.study.log()[-1]
    assert (reply.status_code, reply.headers["location"]) == (303, f"{LABELS}?run={run.id}")
    assert (run.stage, run.by, run.params["reason"]) == ("relabel", "lea", "It was misread.")
    assert "suitable" in labels_of(site.study).values()
    html = unescape(page_of(lea, reply.headers["location"]))
    assert "It was misread." in html
    assert "version 2" in html
    again = send(lea, LABELS, **RENAME, confirmed=would)
    assert again.status_code == 422
    assert "there is no label <code>appropriate</code>" in unescape(again.text)


def test_what_has_changed_since_the_preview_is_shown_again(serve: Serve) -> None:
    site = serve("labelled")
    lea = site.browser("lea")
    preview = send(lea, LABELS, **RENAME, confirmed="something else")
    assert preview.status_code == 200
    assert "This would follow:" in preview.text
    assert [version.version for version in site.study.grid().label_versions()] == [1]


def test_what_cannot_be_changed_is_refused_by_the_form_as_it_was_typed(site: Site, lea: TestClient) -> None:
    for form, why in (
        ({**RENAME, "reason": ""}, "needs a reason"),
        ({**RENAME, "into": "not_sure"}, "there is a label <code>not_sure</code> already"),
        ({**RENAME, "kind": "merge", "labels": "appropriate\nnot_appropriate"}, "one is positive, and another is not"),
        ({**RENAME, "kind": "drop"}, "drop"),
    ):
        reply = send(lea, LABELS, **form)
        assert reply.status_code == 422, form
        html = unescape(reply.text)
        assert why in html
        assert form["into"] in html
    assert len(site.study.grid().label_versions()) == 1


def test_a_grid_whose_answers_are_no_labels_of_this_kind_has_no_such_page(site: Site, lea: TestClient) -> None:
    assert f'href="{LABELS}"' in page_of(lea, "/lead")
    assert site.browser("ana").get(LABELS).status_code == 403
