"""Sentences of the floors below that leads meet who start a study or change one: refusals, and what they wait for.

They are recognised by their words like all others, see `refusals`.
"""

from __future__ import annotations

from fcpair.web.page_phrases import mark

ACT_SENTENCES = (
    # stages/assignment/pace.py
    mark("fewer than %(least)s intervals of at most %(most)s minutes between answers on the pages"),
    # web/acts
    mark("%(name)s has stopped it; what models have replied is kept, and nothing else was written"),
    mark("the prices are those of a million tokens; give both as numbers, 0 if there is no charge"),
    mark("`%(text)s` is not a share of pairs; enter a percentage from 0 to 100"),
    mark("run %(number)s brought no answers into this grid"),
    # web/start
    mark("the study was not built to the end, and nothing of it was kept; press the button again"),
    mark(
        "the file has more than %(number)s MB, which is the limit here; leave out rows or columns that the study does "
        "not need, or use `fcpair run` on the server"
    ),
    mark("the file is empty; choose one with a row of column names and at least one pair"),
    mark("the file came in too slowly; try again with a better connection"),
    mark("the server's disk is full or read-only; make room there, or tell those who run it, and send the file again"),
    mark("there is no such file any more; upload the table again"),
    # web/server/long_acts.py, study_builder.py
    mark("the process has ended, perhaps for lack of memory; what models have replied is kept, so try again"),
    mark("something else is being done that takes long; wait until that is done, or stop it"),
    mark("the process that built the study has ended, perhaps for lack of memory; nothing was kept, so try again"),
    mark("the study is being built already; wait until that is done"),
    # steps/base
    mark("this was changed after the page was loaded, so nothing was saved"),
    # steps/assignment/extra_labels.py
    mark(
        "%(number)s labels would be added now, not %(most)s, because something was assigned or decided after the page "
        "was loaded; nothing was done"
    ),
    mark(
        "there is nothing to assign: every pair already has as many annotators as requested, and everybody has their "
        "share; `--overlap 2:SHARE` asks for more labels"
    ),
    mark(
        "there is nothing to assign: every pair already has as many annotators as requested, and everybody has their "
        "share; `--overlap 2:SHARE` asks for more labels; the %(number)s pairs that somebody has decided get no "
        "further labels"
    ),
    # steps/answers/generate.py, withdraw.py
    mark("round `%(name)s` of grid `%(grid)s` is answered by people; `fcpair assign --round` assigns it"),
    mark("every cell of grid `%(grid)s` has the answer of its model in round `%(name)s`"),
    mark("run %(number)s (%(stage)s) has been withdrawn already"),
    mark("every answer of run %(number)s (%(stage)s) has been superseded since, so none is left to withdraw"),
    # steps/oversight/study_start.py
    mark("the study has been started already, so its draft cannot be changed any more; go to the overview"),
    mark(
        "the step “%(step)s” was changed by %(name)s since you opened this page; look at what is there now, then send "
        "yours again"
    ),
    mark("a negative label has no name; give it one"),
    mark("an unsure label has no name; give it one"),
    mark("a positive label has no name; give it one"),
    mark("the two sides need different names, such as `hate speech` and `counter-narrative`"),
    mark("there are no %(people)s; at least one is needed"),
    mark("`%(name)s` is named twice; each name stands for one person in one role"),
    mark("`%(name)s` leads the study, so cannot have another role; choose another name"),
    # steps/oversight/uploaded_table.py
    mark("`%(name)s` is not a table that can be read; choose a file that ends in %(suffixes)s"),
    mark("no pair is left to be labelled: the table has them all; choose more HS or other candidates"),
    mark(
        "%(number)s candidates cannot be drawn: %(least)s neighbours of each of %(sources)s source CNs are at most "
        "%(most)s; lower the number, or raise the neighbours"
    ),
    mark("%(place)s: the hs text is empty; tick “rows with one text” to read such a row as a text without a pair"),
    mark("%(place)s: the cn text is empty; tick “rows with one text” to read such a row as a text without a pair"),
    # files
    mark("%(file)s: 1 thing is wrong; nothing was changed"),
    mark("%(file)s: %(number)s things are wrong; nothing was changed"),
    mark("%(file)s: the file has no rows; expected at least one below the column names"),
    mark("%(file)s: no row in language `%(code)s`; found %(codes)s"),
    mark("column `%(column)s` is named for both sides; the HS and the CN must be in two columns"),
    # stages/corpus/retrieve.py, stages/assignment/assign.py
    mark("%(number)s HS cannot be drawn; there are %(most)s"),
    mark(
        "overlap asks for %(least)s labels on %(number)s pairs, but there are %(most)s annotators; add annotators or "
        "drop that share"
    ),
    mark("there are %(number)s annotators; at least 1 is needed"),
    # steps/surveys/survey_start.py
    mark(
        "%(number)s people are to answer each statement, but there are %(most)s respondents; raise their number, or "
        "lower the other"
    ),
    mark("the survey asks nothing; write at least one question, each on a line of its own"),
    mark("the answer for “%(name)s” has no name; give it one"),
    mark("two answers are called `%(name)s`; give each a name of its own"),
    # models/service.py
    mark(
        "an answer of a service is needed and none is set; set OPENAI_BASE_URL to an OpenAI-compatible service, such "
        "as %(first)s for a local server or %(second)s, and OPENAI_API_KEY where it needs a key"
    ),
    # practice.py
    mark("`%(name)s` is empty"),
    mark("there are %(number)s known pairs to practise on; at most %(most)s"),
    # params.py, steps/people/people.py
    mark("`%(other)s` and `%(name)s` differ only in capitals; choose another name for one of them"),
)
