"""Tiers on the lead's pages: a mark beside each name, in the colour that the tier is called by."""

from __future__ import annotations

import re
from collections.abc import Callable

from fcpair.records import TIERS
from fcpair.report.figures.colours import TIER_COLOURS, to_hex
from fcpair.web.context import mark_tiers
from fcpair.web.server.static_files import FOLDER
from web.conftest import Site


def test_the_style_has_the_colours_of_all_figures() -> None:
    style = (FOLDER / "lead.css").read_text("utf-8")
    marks = dict(re.findall(r"\.tier\.(\w+)::before \{\s*background: (#\w+);", style))
    assert marks == {tier: to_hex(colour) for tier, colour in TIER_COLOURS.items()}
    assert set(TIER_COLOURS) == set(TIERS)


def test_names_of_tiers_are_marked_and_all_else_is_escaped() -> None:
    assert mark_tiers("Gold 3 <b>") == '<span class="tier gold">Gold</span> 3 &lt;b&gt;'
    assert mark_tiers("Goldfish") == "Goldfish"


def test_tiles_and_tables_mark_each_tier(serve: Callable[..., Site]) -> None:
    page = serve("checked").browser("lea").get("/lead").text
    for tier in TIERS:
        assert page.count(f'<span class="tier {tier}">{tier.capitalize()}</span>') >= 3, tier
