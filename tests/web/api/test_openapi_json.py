"""docs/openapi.json describes the API that the code has."""

from __future__ import annotations

import copy

from docs.openapi import described, difference, kept

MOST_LINES = 40


def test_the_file_describes_the_api_of_the_code() -> None:
    lines = difference(kept(), described())
    assert lines == [], "run `python docs/openapi.py` if the API is to change:\n" + "\n".join(lines[:MOST_LINES])


def test_what_differs_is_named_with_its_place_but_a_release_alone_makes_no_difference() -> None:
    other = copy.deepcopy(kept())
    other["info"]["version"] = "99.0"
    assert not difference(kept(), other)
    other["paths"]["/api/me"]["get"]["summary"] = "Somebody else."
    lines = difference(kept(), other)
    assert '+        "summary": "Somebody else."' in lines
    assert len(lines) < 12
