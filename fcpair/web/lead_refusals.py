"""Sentences of the floors below that leads alone meet: refusals, notes, reasons for which a figure is missing, and the
words of tables and maps.

They are recognised by their words like all others, see `refusals`.
"""

from __future__ import annotations

from fcpair.web.page_phrases import mark

FIGURE_SENTENCES = (
    # stages/stats/multi_rater.py
    mark("raw agreement"),
    mark("Krippendorff's alpha, nominal"),
    mark("Krippendorff's alpha, ordinal"),
    mark("Krippendorff's alpha, interval"),
    mark("Gwet's AC1"),
    mark("Fleiss' kappa, %(number)s labels"),
    mark("pairs with exactly %(number)s labels: Fleiss' kappa requires a constant number"),
    mark("classes in the order of their codes"),
    mark("the distance of the question"),
    mark("pairs with one label do not count towards prevalence, unlike Gwet's"),
    mark("no pair has exactly %(number)s labels"),
    mark("no pair has two or more labels"),
    mark("one pair only: agreement by chance cannot be estimated from it"),
    mark("the scheme leaves one class only"),
    mark("all labels are of one class, so agreement by chance would be complete"),
    # stages/stats/kappa.py
    mark("Cohen's kappa"),
    mark("Cohen's kappa on bins"),
    mark("mean kappa"),
    mark("mean kappa on bins"),
    mark("mean kappa weighted by n"),
    mark("mean kappa weighted by n on bins"),
    mark("standard deviation of kappa"),
    mark("standard deviation of kappa on bins"),
    mark("one shared pair: it has no variance"),
    mark("both used the same single class, so agreement by chance would be complete"),
    mark("both used the same single bin, so agreement by chance would be complete"),
    mark("overlap subsets: %(number)s used, %(most)s undefined and left out"),
    mark("kappa is undefined on every overlap subset"),
    mark("no two annotators share a pair"),
    mark("a spread needs two overlap subsets with a defined kappa"),
    mark("no interval: chance adds to it on small subsets"),
    # stages/stats/people_agreement.py, stages/questions
    mark("there is no pair that both have labelled"),
    mark("kappa is undefined with each of the others"),
    mark("two people write different texts, which neither agree nor disagree"),
    mark("two people keep different texts, which neither agree nor disagree"),
    # stages/stats/jackknife_intervals.py, stages/stats/intervals.py
    mark("new %(row)s and %(column)s, the same annotators"),
    mark("new %(side)s, the same annotators"),
    mark("new %(row)s, %(column)s and annotators"),
    mark("new %(side)s and annotators"),
    mark("new %(row)s and %(column)s"),
    mark("new %(side)s"),
    mark("interval from %(sizes)s; wide, because of only %(few)s"),
    mark("interval from %(sizes)s"),
    mark("no interval: it needs at least 2 of each side, found %(sizes)s"),
    mark("no interval: without one %(side)s the figure is undefined"),
    mark("no interval: leaving out any one %(row)s or %(column)s changes nothing, so the error cannot be estimated"),
    mark("no interval: leaving out any one %(side)s changes nothing, so the error cannot be estimated"),
    mark("no interval, as it is at its bound"),
    # stages/stats/interval_cautions.py
    mark(
        "the overlap is spread unevenly over %(number)s %(side)s, as if over %(figure)s: %(level)s intervals contained "
        "the true value in as few as %(least)s of 100 simulated studies like this"
    ),
    mark(
        "the %(number)s %(side)s differ strongly, and explain %(share)s of which pairs are %(answer)s: %(level)s "
        "intervals contained the true value in as few as %(least)s of 100 simulated studies like this"
    ),
    mark(
        "%(share)s of the labels are %(answer)s, and kappas rest on the few others: %(level)s intervals contained the "
        "true value in as few as %(least)s of 100 simulated studies like this"
    ),
)
"""Names of figures, what they rest on, and why they have no value or no interval."""

LEAD_SENTENCES = (
    # web/lead, web/acts
    mark("you cannot do this to yourself here; ask another lead, or use `fcpair people` on the server"),
    mark("`%(text)s` is no number of pairs; expected a whole number, or nothing for all"),
    mark("`%(text)s` is not a number of pairs; enter a whole number, 1 or more, or nothing for all"),
    mark("there is no role `%(name)s`; expected one of %(roles)s"),
    mark("there is no policy `%(name)s` with ties `%(text)s`; choose one of those on the page"),
    mark("there is no metadata `%(name)s` to compare; expected %(codes)s"),
    mark("there is nobody called `%(name)s`"),
    # steps/people
    mark("there is nobody called `%(name)s`; there are %(codes)s"),
    mark("`%(name)s` already exists; choose another pseudonym"),
    mark(
        "`%(name)s` cannot be a pseudonym; use a word of at most %(number)s characters without commas, dots, slashes "
        "and outer spaces"
    ),
    mark("`%(name)s` has been retired already"),
    mark("`%(name)s` has been retired and takes no further part; add them under another name"),
    mark("`%(name)s` has been retired, so cannot be invited"),
    mark("`%(name)s` has no open work"),
    mark("`%(name)s` has no invite link that could be revoked"),
    mark("`%(name)s` has %(number)s open pairs; `fcpair people handover %(text)s` first"),
    mark("%(number)s pairs of `%(name)s` cannot be handed over; expected 1 to %(most)s, which are open"),
    mark("`%(name)s` is %(role)s and may have seen labels, so cannot give any; add somebody else with `%(text)s`"),
    mark("everybody has an invite link; `fcpair people invite NAME` makes a new one"),
    mark("nobody takes part yet; `fcpair people add NAME` adds somebody, with an invite link"),
    mark("the guidelines are empty or hold a NUL; write what annotators should do"),
    mark(
        "the guidelines have %(number)s bytes (as UTF-8); the limit is %(most)s. Put pictures and long lists behind a "
        "link"
    ),
    mark("these are already the current guidelines"),
    mark("somebody else has edited the guidelines since you opened them, and version %(number)s is current now"),
    # steps/base, steps/adjudication
    mark("`%(name)s` needs labels first; run `fcpair labels import` or `fcpair simulate`"),
    mark("`%(name)s` cannot be compared with themselves; name two people"),
    mark("pair %(number)s has no flag; choose one that an adjudicator has flagged"),
    # steps/assignment/validate.py
    mark("decisions of this grid are not validated; add [grid.validate] to its recipe"),
    mark("every pair that can be validated now has its verdict or has been assigned"),
    mark(
        "the validation round has been assigned; `--redo` would discard %(number)s assignments, and `fcpair validate "
        "assign --more` adds pairs"
    ),
    mark(
        "the validation round has been assigned and has %(number)s verdicts, which are never discarded; `fcpair "
        "validate assign --more` assigns pairs that have no verdict yet"
    ),
    mark("1 pair waits until all its labels are in"),
    mark("%(number)s pairs wait until all their labels are in"),
    mark("no pair has an adjudicated label; run `fcpair adjudicate` first"),
    mark(
        "%(number)s of %(most)s pairs cannot be validated: every validator took part in them; add another with "
        "`fcpair people add NAME --role validator`"
    ),
    # web/lead
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
    # steps/base/context.py
    mark("there is no pair %(number)s; the pairs of the grid are numbered from %(least)s to %(most)s"),
    # steps/release/partition.py, stages/adjudication/partition.py
    mark("it has no final label"),
    mark("it has no labels yet"),
    mark("it was discarded"),
    mark("no validator has given a verdict on its label"),
    mark("the validators did not agree with its label"),
    mark("it has %(number)s of %(all)s labels"),
    mark("%(number)s of %(all)s labels equal the final one"),
    mark("%(number)s of %(all)s labels are on the side of the final one"),
    mark("it has %(number)s of %(all)s definite labels"),
    mark("%(number)s of %(all)s definite labels equal the final one"),
    mark("%(number)s of %(all)s definite labels are on the side of the final one"),
    mark("its final label is not %(answer)s or %(answers)s"),
    mark("its final label is not %(answer)s"),
    # evaluate/evaluation.py
    mark("no HS of the tier has an appropriate CN in the pool"),
    mark("1 HS gives no interval; it takes %(least)s or more"),
    mark("%(number)s HS give no interval; it takes %(least)s or more"),
    # steps/adjudication/decision_requests.py
    mark("asked by a command"),
    mark("asked by %(name)s"),
    # steps/rules/study_notes.py, steps/oversight/status.py
    # steps/rules/study_notes.py
    mark("1 pair was decided before its labels changed and waits for a second look; until then the decision stands"),
    mark(
        "%(number)s pairs were decided before their labels changed and wait for a second look; until then the decision "
        "stands"
    ),
    mark("1 pair has a verdict on a label that it no longer has; such a verdict does not count"),
    mark("%(number)s pairs have verdicts on a label that they no longer have; such a verdict does not count"),
    mark(
        "1 pair was decided after the others were assigned to validators: it has no validator, and is in no tier above "
        "Bronze; `fcpair validate assign --more` assigns them"
    ),
    mark(
        "%(number)s pairs were decided after the others were assigned to validators: they have no validator, and are "
        "in no tier above Bronze; `fcpair validate assign --more` assigns them"
    ),
    # web/lead/progress.py
    mark("this was assigned after the page was loaded, so nothing was done; load Progress again"),
    # steps/rules/study_notes.py, steps/oversight/status.py
    mark("%(number)s of %(all)s judgements are SIMULATED; no figure here is about people"),
    mark("%(number)s of %(all)s judgements are SIMULATED; figures that rest on them are not about people"),
    mark("1 open verdict waits until all labels of its pair are in"),
    mark("%(number)s open verdicts wait until all labels of their pairs are in"),
    mark("%(names)s joined after the pairs were assigned and got none; `fcpair assign --more` gives an even share"),
    mark(
        "the pages are in English, as there are none in `%(code)s`, the `language` of `[words]`; wordings "
        "in `%(same)s` are shown all the same. There are pages in %(codes)s"
    ),
    # stages/adjudication/partition.py
    mark("%(number)s label or more"),
    mark("%(number)s label or more, all equal to the final one"),
    mark("%(number)s label or more, all on the side of the final one"),
    mark("%(number)s labels or more"),
    mark("%(number)s labels or more, all equal to the final one"),
    mark("%(number)s labels or more, all on the side of the final one"),
    mark("%(number)s labels or more, at least two and more than half equal to the final one"),
    mark("%(number)s labels or more, at least two and more than half on the side of the final one"),
    mark("%(number)s definite label or more"),
    mark("%(number)s definite label or more, all equal to the final one"),
    mark("%(number)s definite label or more, all on the side of the final one"),
    mark("%(number)s definite labels or more"),
    mark("%(number)s definite labels or more, all equal to the final one"),
    mark("%(number)s definite labels or more, all on the side of the final one"),
    mark("%(number)s definite labels or more, at least two and more than half equal to the final one"),
    mark("%(number)s definite labels or more, at least two and more than half on the side of the final one"),
    mark("valid or not valid"),
    mark("with or without a verdict"),
    mark("final label %(answer)s or %(answers)s"),
    mark("final label %(answer)s"),
    mark("within %(name)s"),
    # report/table_rows.py
    mark("Table 1. Size of the tiers"),
    mark("Table 2. Balance of final labels"),
    mark("Table 3. Labels per pair"),
    mark("Table 3. Labels per cell"),
    mark("Pairs, and the distinct %(rows)s and %(columns)s in them."),
    mark("Cells, and the distinct rows and columns in them."),
    mark("Positive is: %(answers)s. Shares are of the tier's pairs."),
    mark("Positive is: %(answers)s. Shares are of the tier's cells."),
    mark("How many pairs of a tier rest on how many labels."),
    mark("How many cells of a tier rest on how many labels."),
    mark("%(number)s+ labels"),
    mark("the tier is empty"),
    # report/survey_section.py
    mark("What people said"),
    mark("Groups of people"),
    mark(
        "%(number)s people answered; a margin of error of %(figure)s after Cochran, which assumes a random sample. "
        "A share is yes over yes and no, its interval Wilson's at %(percent)s."
    ),
    mark("%(number)s answers."),
    mark("%(percent)s interval"),
    mark("Bias, as %(name)s scores it"),
    mark("Intervals at %(percent)s by a jackknife over templates."),
    mark("Answers that cannot be read are left out of every figure: %(text)s."),
    mark("Where the likeliest options tie, only probabilities count: %(text)s."),
    mark("accuracy where the right answer opposes the stereotype - accuracy where it follows it (%(source)s)"),
    mark("accuracy where the right answer follows the stereotype - accuracy where it opposes it (%(source)s)"),
    mark("right / n (%(source)s)"),
    mark("(1 - accuracy) (2 b / (b + c) - 1) (%(source)s)"),
    mark("mean of p(target) - p(counter) (%(source)s)"),
    mark("mean of ln p(target) - ln p(counter) (%(source)s)"),
    mark("mean entropy / ln K (%(source)s)"),
    mark("undefined"),
    mark("share of yes over yes and no"),
    mark("difference of shares"),
    mark("%(number)s more are by people for whom it is unknown."),
    mark(
        "Answers to “%(question)s”, by what people said about themselves. The result is an association among these "
        "annotators, never a cause."
    ),
    mark("%(group)s: differences of shares"),
    mark(
        "low, high: %(percent)s interval, errors clustered by item and annotator (%(source)s), degrees of freedom of "
        "both groups (%(other)s) and the items"
    ),
    mark(
        "p: by reassigning groups to annotators: exact, over all ways, where there are up to %(figure)s, else over "
        "%(total)s random ones; two-sided, that is twice the smaller one-sided p"
    ),
    mark("Holm: p after Holm's correction for all differences here"),
    mark(
        "%(groups)s: the smallest p that %(sizes)s people can give is %(figure)s: exact, from all %(number)s ways to "
        "assign the groups, doubled"
    ),
    # report/map_layers.py
    mark("Tier %(name)s"),
    mark("in the tier %(name)s"),
    mark("not in the tier %(name)s"),
    mark("share of %(answer)s"),
    mark("less than %(number)s s"),
    mark("%(least)s to %(most)s s"),
    mark("%(number)s s or more"),
    mark("%(number)s skips or more"),
)
TABLE_WORDS = (
    mark("Tier"),
    mark("Pairs"),
    mark("Cells"),
    mark("Rows"),
    mark("Columns"),
    mark("Positive"),
    mark("Not positive"),
    mark("Share positive"),
    mark("unanimous"),
    mark("majority"),
    mark("Statement"),
    mark("Yes"),
    mark("No"),
    mark("Declined"),
    mark("Skipped"),
    mark("Share"),
    mark("Answer, group"),
    mark("Answer, groups"),
    mark("People"),
    mark("Answers"),
    mark("Difference"),
    mark("p"),
    mark("Holm"),
    mark("Model, category"),
    mark("Score"),
    mark("Templates"),
    mark("State"),
    mark("Answer"),
    mark("Agreement"),
    mark("Disagreement"),
    mark("Number of labels"),
    mark("Median time"),
    mark("Skips"),
    mark("number"),
    mark("answers"),
    mark("disagreement"),
    mark("skips"),
    mark("no answer yet"),
    mark("no label yet"),
    mark("skipped, not answered"),
    mark("answered"),
    mark("labelled, waits for a person"),
    mark("labelled, waits for a policy"),
    mark("discarded"),
    mark("decided, not validated"),
    mark("valid"),
    mark("not valid"),
    mark("in no tier"),
    mark("in none of the four tiers"),
    mark("as many for one as for another"),
    mark("one label alone"),
    mark("half of the labels or fewer are the same"),
    mark("more than half are the same"),
    mark("all are the same"),
    mark("none"),
    mark("not known"),
    mark("never skipped"),
    mark("in the corpus already, so not in the grid"),
    mark("not in the grid"),
    mark("cluster"),
    mark("likeness of answers"),
    # steps/release/partition.py: what was answered and decided
    mark("validate"),
    mark("no majority"),
    mark("median"),
    mark("no median"),
    mark("person"),
    mark("imported"),
    mark("reopened"),
    mark("taken back"),
    mark("waits for a person"),
    mark("withdrawn"),
)
"""Heads of columns, titles and meanings; known as they are, and where these are short, also on the lead's own pages."""
