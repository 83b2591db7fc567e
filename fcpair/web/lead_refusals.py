"""Sentences of the floors below that leads alone meet: refusals, reasons for which a figure is missing, and titles.

They are recognised by their words like all others, see `refusals`.
"""

from __future__ import annotations

from fcpair.web.page_phrases import mark

LEAD_SENTENCES = (
    # web/lead
    mark("this was assigned after the page was loaded, so nothing was done; load Progress again"),
    mark("there is no map, because the grid has no pairs yet"),
    mark("no system is named; name at least one, such as bm25"),
    mark("no tier is ticked; tick at least one"),
    mark("the file is empty; choose a TREC run"),
    mark("`%(name)s` names a file of the server, which only the recipe and the command line can; send your run below"),
    mark(
        "the run has more than %(number)s MB, which is the limit here; use `fcpair evaluate --system run:FILE` on the "
        "server"
    ),
    mark("there are no labels yet, so there is nothing to download"),
    mark("there are no answers yet, so there is nothing to download"),
    # web/acts/pair_acts.py
    mark("no pair is ticked; tick those that are meant, or choose all that match"),
    mark("none of these pairs matches the search any more; search again"),
    # pair_filter.py
    mark("there is no person `%(name)s`; did you mean `%(other)s`?"),
    mark("there is no answer `%(name)s`; did you mean `%(other)s`?"),
    mark("there is no state `%(name)s`; did you mean `%(other)s`?"),
    mark("there is no tier `%(name)s`; did you mean `%(other)s`?"),
    mark("there is no metadata `%(name)s`; did you mean `%(other)s`?"),
    mark("there is no person `%(name)s`; expected %(names)s"),
    mark("there is no answer `%(name)s`; expected %(names)s"),
    mark("there is no state `%(name)s`; expected %(names)s"),
    mark("there is no tier `%(name)s`; expected %(names)s"),
    mark("there is no metadata `%(name)s`; expected %(names)s"),
    # steps/base/context.py
    mark("there is no pair %(number)s; the pairs of the grid are numbered from %(least)s to %(most)s"),
    # steps/release/partition.py, stages/adjudication/partition.py
    mark("1 label or more; valid or not valid"),
    mark("1 label or more; valid"),
    mark("2 labels or more; valid"),
    mark("2 labels or more, all equal to the final one; valid"),
    mark("2 labels or more, at least two and more than half equal to the final one; valid"),
    mark("it has no final label"),
    mark("it has no labels yet"),
    mark("it was discarded"),
    mark("no validator has given a verdict on its label"),
    mark("the validators did not agree with its label"),
    mark("it has %(number)s of %(least)s labels"),
    mark("%(number)s of %(most)s labels equal the final one"),
    # evaluate/evaluation.py
    mark("no HS of the tier has an appropriate CN in the pool"),
    mark("1 HS gives no interval; it takes %(least)s or more"),
    mark("%(number)s HS give no interval; it takes %(least)s or more"),
    # stages/assignment/pace.py
    mark("fewer than %(least)s intervals of at most %(most)s minutes between answers on the pages"),
)
