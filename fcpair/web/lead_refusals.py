"""Sentences of the floors below that leads alone meet: refusals, reasons for which a figure is missing, and titles.

They are recognised by their words like all others, see `refusals`.
"""

from __future__ import annotations

from fcpair.web.page_phrases import mark

LEAD_SENTENCES = (
    # web/lead
    mark("this was assigned after the page was loaded, so nothing was done; load Progress again"),
    # stages/assignment/pace.py
    mark("fewer than %(least)s intervals of at most %(most)s minutes between answers on the pages"),
)
