"""Sentences that say what a run has done: commands, pages and logs say the same ones.

Each stage has a first sentence about its main counts. The other counts follow, each by the sentence of its name; those
that are 0 are left out. A new stage, or a new count, is a row of a table below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fcpair.sentences import Answer, Id, Joined, Sentence, Written, join, mark, mark_plural, say, say_number

Forms = tuple[str, str]
IN_FULL_ALONE = ("intervals", "undefined", "scores", "divergence")  # counts that only a table or JSON has room for
THINGS: Mapping[str, Forms] = {
    "annotators": mark_plural("%(n)s annotator", "%(n)s annotators"),
    "validators": mark_plural("%(n)s validator", "%(n)s validators"),
    "people": mark_plural("%(n)s person", "%(n)s people"),
    "hs": mark_plural("%(n)s HS", "%(n)s HS"),
    "cn": mark_plural("%(n)s CN", "%(n)s CNs"),
    "source_cns": mark_plural("%(n)s CN", "%(n)s CNs"),
    "neighbours": mark_plural("%(n)s neighbour", "%(n)s neighbours"),
    "rows": mark_plural("%(n)s row", "%(n)s rows"),
    "columns": mark_plural("%(n)s column", "%(n)s columns"),
    "cells": mark_plural("%(n)s cell", "%(n)s cells"),
    "pairs": mark_plural("%(n)s pair", "%(n)s pairs"),
    "labels": mark_plural("%(n)s label", "%(n)s labels"),
    "models": mark_plural("%(n)s model", "%(n)s models"),
}
"""Counts that stand within the sentence of another one."""

FIRST: Mapping[tuple[str, ...], Forms] = {
    ("import", "rows", "hs", "cn"): mark_plural(
        "%(n)s row was imported: %(hs)s and %(cn)s", "%(n)s rows were imported: %(hs)s and %(cn)s"),
    ("select", "hs", "source_cns"): mark_plural(
        "%(n)s HS was selected, with %(source_cns)s", "%(n)s HS were selected, with %(source_cns)s"),
    ("retrieve", "candidates", "source_cns", "neighbours"): mark_plural(
        "%(n)s candidate was found: %(source_cns)s have %(neighbours)s",
        "%(n)s candidates were found: %(source_cns)s have %(neighbours)s"),
    ("retrieve", "candidates"): mark_plural("%(n)s candidate was brought in", "%(n)s candidates were brought in"),
    ("pair", "pairs", "hs", "cn"): mark_plural(
        "%(n)s pair was made of %(hs)s and %(cn)s", "%(n)s pairs were made of %(hs)s and %(cn)s"),
    ("extend", "pairs"): mark_plural("%(n)s pair was added", "%(n)s pairs were added"),
    ("pair", "cells", "grid", "rows", "columns"): mark_plural(
        "grid `%(grid)s` was made: %(n)s cell of %(rows)s and %(columns)s",
        "grid `%(grid)s` was made: %(n)s cells of %(rows)s and %(columns)s"),
    ("grid", "rounds", "grid"): mark_plural(
        "grid `%(grid)s` was planned, with %(n)s round", "grid `%(grid)s` was planned, with %(n)s rounds"),
    ("plan", "labels"): mark_plural("%(n)s label is planned", "%(n)s labels are planned"),
    ("assign", "assignments", "people", "round", "cells", "grid"): mark_plural(
        "%(n)s answer of round `%(round)s` was assigned to %(people)s, in %(cells)s of grid `%(grid)s`",
        "%(n)s answers of round `%(round)s` were assigned to %(people)s, in %(cells)s of grid `%(grid)s`"),
    ("assign", "assignments", "annotators"): mark_plural(
        "%(n)s label was assigned to %(annotators)s", "%(n)s labels were assigned to %(annotators)s"),
    ("assign", "new", "annotators"): mark_plural(
        "%(n)s further label was assigned, among %(annotators)s",
        "%(n)s further labels were assigned, among %(annotators)s"),
    ("assign", "free", "annotators"): mark_plural(
        "%(n)s label is open to anybody who asks first, of %(annotators)s now",
        "%(n)s labels are open to anybody who asks first, of %(annotators)s now"),
    ("assign", "free"): mark_plural(
        "%(n)s further label is open to anybody who asks first",
        "%(n)s further labels are open to anybody who asks first"),
    ("assign", "taken_away"): mark_plural(
        "open assignment was ended: %(n)s label that nobody had was removed",
        "open assignment was ended: %(n)s labels that nobody had were removed"),
    ("validate", "pairs", "validators"): mark_plural(
        "%(n)s pair was assigned to %(validators)s", "%(n)s pairs were assigned to %(validators)s"),
    ("calibration", "pairs", "people", "round", "assignments"): mark_plural(
        "%(n)s pair was assigned to everybody, that is %(people)s, in round `%(round)s`: %(assignments)s answers",
        "%(n)s pairs were assigned to everybody, that is %(people)s, in round `%(round)s`: %(assignments)s answers"),
    ("discussion", "differing", "pairs", "assignments"): mark_plural(
        "the discussion was opened: people differ on %(n)s of %(pairs)s, and can answer %(assignments)s times more",
        "the discussion was opened: people differ on %(n)s of %(pairs)s, and can answer %(assignments)s times more"),
    ("close calibration", "second_answers"): mark_plural(
        "the calibration was closed, with %(n)s second answer",
        "the calibration was closed, with %(n)s second answers"),
    ("qualification", "pairs"): mark_plural("%(n)s pair tells who qualifies", "%(n)s pairs tell who qualifies"),
    ("controls", "pairs"): mark_plural("%(n)s pair serves as a control", "%(n)s pairs serve as controls"),
    ("practice", "items"): mark_plural("%(n)s pair is there to practise on", "%(n)s pairs are there to practise on"),
    ("guidelines", "version"): mark_plural(
        "version %(n)s of the guidelines was published", "version %(n)s of the guidelines was published"),
    ("guidelines", "pairs"): mark_plural(
        "the flag of %(n)s pair was answered in the guidelines",
        "the flags of %(n)s pairs were answered in the guidelines"),
    ("recipe", "version"): mark_plural("version %(n)s of the recipe was kept", "version %(n)s of the recipe was kept"),
    ("adjudicate", "imported"): mark_plural("%(n)s decision was imported", "%(n)s decisions were imported"),
    ("adjudicate", "requested"): mark_plural(
        "a person is to decide %(n)s pair more", "a person is to decide %(n)s pairs more"),
    ("adjudicate", "new"): mark_plural(
        "%(n)s new decision by the policy", "%(n)s new decisions by the policy"),
    ("simulate", "answers", "round"): mark_plural(
        "%(n)s answer was simulated in round `%(round)s`", "%(n)s answers were simulated in round `%(round)s`"),
    ("generate", "answers", "round", "models"): mark_plural(
        "%(n)s answer was given by %(models)s in round `%(round)s`",
        "%(n)s answers were given by %(models)s in round `%(round)s`"),
    ("examples", "examples", "rows", "round"): mark_plural(
        "%(n)s example was found for %(rows)s of round `%(round)s`",
        "%(n)s examples were found for %(rows)s of round `%(round)s`"),
    ("examples review", "used", "round"): mark_plural(
        "%(n)s example of round `%(round)s` was accepted", "%(n)s examples of round `%(round)s` were accepted"),
    (" import", "labels", "pairs", "adjudications", "verdicts"): mark_plural(
        "%(n)s label of %(pairs)s was imported, with %(adjudications)s decisions and %(verdicts)s verdicts",
        "%(n)s labels of %(pairs)s were imported, with %(adjudications)s decisions and %(verdicts)s verdicts"),
    (" import", "answers"): mark_plural("%(n)s answer was imported", "%(n)s answers were imported"),
    (" withdraw", "answers"): mark_plural("%(n)s answer was withdrawn", "%(n)s answers were withdrawn"),
    ("dismiss", "set_aside"): mark_plural("%(n)s answer was set aside", "%(n)s answers were set aside"),
    ("annotate", "questions"): mark_plural(
        "people are asked %(n)s question about themselves", "people are asked %(n)s questions about themselves"),
    ("partition", "pairs"): mark_plural("a tier of %(n)s pair was written", "a tier of %(n)s pairs was written"),
    ("export", "texts", "answered"): mark_plural(
        "%(n)s text was written, %(answered)s of them answered",
        "%(n)s texts were written, %(answered)s of them answered"),
    ("export", "rows", "of"): mark_plural("%(n)s of %(of)s rows was written", "%(n)s of %(of)s rows were written"),
    ("export", "rows"): mark_plural("%(n)s row was written", "%(n)s rows were written"),
    ("export", "pairs", "hs", "cn"): mark_plural(
        "%(n)s pair of %(hs)s and %(cn)s was written", "%(n)s pairs of %(hs)s and %(cn)s were written"),
    ("export", "preferences"): mark_plural("%(n)s preference was written", "%(n)s preferences were written"),
    ("export", "decisions"): mark_plural("%(n)s decision was written", "%(n)s decisions were written"),
    ("release", "tables"): mark_plural("a release of %(n)s table was written", "a release of %(n)s tables was written"),
    ("agreement", "labels", "pairs", "overlapped"): mark_plural(
        "%(n)s label of %(pairs)s was compared, %(overlapped)s of them with two labels or more",
        "%(n)s labels of %(pairs)s were compared, %(overlapped)s of them with two labels or more"),
    ("agreement", "blocks"): mark_plural("agreement in %(n)s block", "agreement in %(n)s blocks"),
    ("evaluate", "systems", "hs", "pool"): mark_plural(
        "%(n)s system ranked a pool of %(pool)s texts for %(hs)s",
        "%(n)s systems ranked a pool of %(pool)s texts for %(hs)s"),
    ("relabel", "answers", "pairs"): mark_plural(
        "%(n)s answer to %(pairs)s reads differently from now on",
        "%(n)s answers to %(pairs)s read differently from now on"),
    ("relabel", "ambiguous", "pairs"): mark_plural(
        "%(n)s answer to %(pairs)s counts no more, and is asked for again",
        "%(n)s answers to %(pairs)s count no more, and are asked for again"),
    ("bias score", "answers", "models"): mark_plural(
        "%(n)s answer of %(models)s was scored", "%(n)s answers of %(models)s were scored"),
}  # fmt: skip
"""First sentences by a stage and its counts: the first holds of which all are there, and its first count decides on the
form. ` import` and ` withdraw` are stages of any round.
"""

OF_PARAMETERS: Mapping[str, Mapping[str, str]] = {
    "people": {
        "add": mark("%(name)s was added"),
        "role": mark("%(name)s has another role now"),
        "invite": mark("%(name)s has a new invite link"),
        "let_on": mark("%(name)s was let on without having qualified"),
        "forget": mark("what %(name)s said about themselves was deleted"),
        "revoke": mark("the invite link of %(name)s was revoked"),
        "retire": mark("%(name)s was retired"),
        "handover": mark("pairs of %(name)s were handed over"),
        "opt_out": mark("%(name)s chose topics not to read"),
        "spare": mark("pairs on topics that they opted out of were taken from %(name)s"),
        "consent_again": mark("%(name)s agreed to the new terms"),
        "rotate_secret": mark("all sessions ended, and the secret of the study is a new one"),
    },
    "note": {
        "pair": mark("a note about pair %(name)s was added to the log"),
        "text": mark("a note was added to the log"),
    },
}
"""First sentences that name a parameter, by stage: that of the first parameter that is given."""

OF_LABELS: Mapping[str, str] = {
    "rename": mark("the label %(labels)s is called %(into)s"),
    "merge": mark("the labels %(labels)s are one, %(into)s"),
    "split": mark("the label %(labels)s was split into %(into)s"),
    "add": mark("the label %(into)s was added"),
}
"""First sentences of changes of labels, by their kind."""

OF_SETTINGS: Mapping[str, str] = {
    "init": mark("the study was set up"),
    "annotate": mark("the terms of those who take part were saved"),
    "report": mark("the report was written"),
    "release form": mark("the form of the release was saved"),
}
"""First sentences of stages that may count nothing."""

OTHER_COUNTS: Mapping[str, Forms] = {
    "compared": mark_plural("%(n)s text is compared", "%(n)s texts are compared"),
    "of": mark_plural("drawn from %(n)s", "drawn from %(n)s"),
    "without_pair": mark_plural("%(n)s of them has one text alone", "%(n)s of them have one text alone"),
    "repeated": mark_plural("%(n)s repeats an earlier row", "%(n)s repeat earlier rows"),
    "other_languages": mark_plural(
        "%(n)s row in another language was left out", "%(n)s rows in other languages were left out"
    ),
    "cut_texts": mark_plural("%(n)s text was cut at the model's limit", "%(n)s texts were cut at the model's limit"),
    "further_ties": mark_plural(
        "%(n)s label more was asked for, because labels tie", "%(n)s labels more were asked for, because labels tie"
    ),
    "further_not_sure": mark_plural(
        "%(n)s label more was asked for, because somebody is not sure",
        "%(n)s labels more were asked for, because somebody is not sure",
    ),
    "new_hs": mark_plural("%(n)s HS more", "%(n)s HS more"),
    "new_cns": mark_plural("%(n)s CN more", "%(n)s CNs more"),
    "left_out": mark_plural(
        "%(n)s pair was left out, as it is in the corpus", "%(n)s pairs were left out, as they are in the corpus"
    ),
    "new_labels": mark_plural("%(n)s label was assigned", "%(n)s labels were assigned"),
    "merged_hs": mark_plural("%(n)s HS is a spelling of another", "%(n)s HS are spellings of others"),
    "merged_cn": mark_plural("%(n)s CN is a spelling of another", "%(n)s CNs are spellings of others"),
    "in_corpus": mark_plural("%(n)s of them is in the corpus", "%(n)s of them are in the corpus"),
    "qualification": mark_plural("%(n)s on pairs that tell who qualifies", "%(n)s on pairs that tell who qualifies"),
    "controls": mark_plural("%(n)s on control pairs", "%(n)s on control pairs"),
    "moved": mark_plural("%(n)s open label went to late joiners", "%(n)s open labels went to late joiners"),
    "reassigned": mark_plural("%(n)s went to somebody else", "%(n)s went to others"),
    "vacant": mark_plural("%(n)s waits for somebody who can take it", "%(n)s wait for somebody who can take them"),
    "not_possible": mark_plural(
        "%(n)s label more was wished, which nobody can give", "%(n)s labels more were wished, which nobody can give"
    ),
    "decided": mark_plural("%(n)s is decided", "%(n)s are decided"),
    "to_validate": mark_plural("%(n)s was there to be validated", "%(n)s were there to be validated"),
    "wait_for_labels": mark_plural("%(n)s waits for labels", "%(n)s wait for labels"),
    "asked_again": mark_plural("%(n)s is asked again", "%(n)s are asked again"),
    "to_decide": mark_plural("%(n)s decision waits for a second look", "%(n)s decisions wait for a second look"),
    "withdrawn": mark_plural("%(n)s open assignment was taken back", "%(n)s open assignments were taken back"),
    "returned": mark_plural("%(n)s was given back", "%(n)s were given back"),
    "dealt": mark_plural("%(n)s was assigned", "%(n)s were assigned"),
    "free": mark_plural("%(n)s is open to anybody who asks first", "%(n)s are open to anybody who asks first"),
    "skips": mark_plural("%(n)s skip", "%(n)s skips"),
    "already_there": mark_plural("%(n)s was there already", "%(n)s were there already"),
    "superseded": mark_plural("%(n)s takes the place of an earlier answer", "%(n)s take the place of earlier answers"),
    "earlier": mark_plural("%(n)s earlier answer was kept too", "%(n)s earlier answers were kept too"),
    "superseded_since": mark_plural("%(n)s had been superseded since", "%(n)s had been superseded since"),
    "reopened": mark_plural("%(n)s was reopened", "%(n)s were reopened"),
    "waiting": mark_plural("%(n)s waits for a person", "%(n)s wait for a person"),
    "by_hand": mark_plural("a person has decided %(n)s already", "a person has decided %(n)s already"),
    "flagged": mark_plural("%(n)s pair is flagged", "%(n)s pairs are flagged"),
    "unflagged": mark_plural("%(n)s flag was removed", "%(n)s flags were removed"),
    "unlabelled": mark_plural("%(n)s has no label", "%(n)s have no label"),
    "person": mark_plural("%(n)s stands by a person's decision", "%(n)s stand by a person's decision"),
    "majority": mark_plural("%(n)s stands by majority", "%(n)s stand by majority"),
    "no_majority": mark_plural("%(n)s discarded, without a majority", "%(n)s discarded, without a majority"),
    "median": mark_plural("%(n)s stands by the median", "%(n)s stand by the median"),
    "no_median": mark_plural("%(n)s discarded, without a median", "%(n)s discarded, without a median"),
    "one_label": mark_plural("%(n)s stands by its only label", "%(n)s stand by their only label"),
    "unanimous": mark_plural("%(n)s stands unanimously", "%(n)s stand unanimously"),
    "reviewed_before": mark_plural("%(n)s had been reviewed before", "%(n)s had been reviewed before"),
    "not_used": mark_plural("%(n)s was refused", "%(n)s were refused"),
    "rows_to_review": mark_plural("%(n)s row is still to be reviewed", "%(n)s rows are still to be reviewed"),
    "without_hs": mark_plural("%(n)s HS was left out", "%(n)s HS were left out"),
    "without_cn": mark_plural("%(n)s CN was left out", "%(n)s CNs were left out"),
    "hs_without_positive": mark_plural("%(n)s HS has no positive CN", "%(n)s HS have no positive CN"),
    "hs_without_negative": mark_plural("%(n)s HS has no negative CN", "%(n)s HS have no negative CN"),
    "unreadable": mark_plural("%(n)s could not be read", "%(n)s could not be read"),
    "categories": mark_plural("%(n)s category", "%(n)s categories"),
    "nouns": mark_plural("%(n)s noun", "%(n)s nouns"),
    "questions": mark_plural("%(n)s wording of questions", "%(n)s wordings of questions"),
    "options": mark_plural("%(n)s wording of answers", "%(n)s wordings of answers"),
    "sides": mark_plural("%(n)s wording of sides", "%(n)s wordings of sides"),
}  # fmt: skip
RANGES: Mapping[str, tuple[str, str]] = {
    "load_min": ("load_max", mark("%(range)s for each person")),
    "hs_min": ("hs_max", mark("%(range)s for each HS")),
    "cn_min": ("cn_max", mark("%(range)s for each CN")),
}


def tell(stage: str, params: Mapping[str, Any], counts: Mapping[str, Any]) -> Joined:
    """Say what a run of a stage has done, by its parameters and counts: sentences with semicolons between them."""
    rest = {name: value for name, value in counts.items() if name not in IN_FULL_ALONE}
    sentences = [*_tell_first(stage, params, rest)]
    while rest:
        name = next(iter(rest))
        sentences += _tell_other(name, rest.pop(name), rest)
    return join(sentences or [say("the settings were saved")], "; ")


def _tell_first(stage: str, params: Mapping[str, Any], rest: dict[str, Any]) -> Iterator[Sentence]:
    kind = next((end for end in (" import", " withdraw") if stage.endswith(end)), stage)
    by_parameter = OF_PARAMETERS.get(kind, {})
    if act := next((name for name in by_parameter if params.get(name)), None):
        rest.pop("people", None)
        value = params[act]
        yield say(by_parameter[act], name=Id(value) if isinstance(value, int) else value)
    if kind == "relabel":
        yield tell_relabelling(params)
    for (of, *names), forms in FIRST.items():
        if of == kind and rest.keys() >= set(names):
            n, *others = (rest.pop(name) for name in names)
            yield say_number(*forms, n, **dict(zip(names[1:], map(_thing, names[1:], others), strict=True)))
            return
    if not rest and kind in OF_SETTINGS:
        yield say(OF_SETTINGS[kind])


def tell_relabelling(params: Mapping[str, Any]) -> Sentence:
    """Say how labels were changed, by the parameters of the change."""
    kind = params.get("kind", "rename")
    signs = "+?" if kind in ("split", "add") else ""  # of a new label
    labels, into = (
        [say("`%(name)s`", name=Answer(label.rstrip(signs))) for label in params.get(name, ())]
        for name in ("labels", "into")
    )
    return say(OF_LABELS[kind], labels=labels, into=into)


def _tell_other(name: str, value: Any, rest: dict[str, Any]) -> Iterator[Sentence]:
    if name in RANGES:
        other, template = RANGES[name]
        most = rest.pop(other)
        yield say(template, range=value if value == most else say("%(least)s to %(most)s", least=value, most=most))
    elif name == "pairs_by_labels":
        for labels, n in value.items():
            inner = _thing("labels", int(labels))
            yield say_number("%(n)s pair has %(labels)s", "%(n)s pairs have %(labels)s", n, labels=inner)
    elif name == "overlap":
        for labels, share in value.items():
            inner, percent = _thing("labels", int(labels)), Written(f"{100 * share:.4g} %")
            yield say("%(labels)s for %(percent)s of the pairs", labels=inner, percent=percent)
    elif name.startswith("collected_"):
        for source, of in value.items():
            rows = _thing("rows", of["rows"])
            yield say("%(drawn)s of %(rows)s were drawn from %(source)s", drawn=of["drawn"], rows=rows, source=source)
    elif name == "even_for":
        yield say("equal shares are possible for %(numbers)s annotators", numbers=value or say("no number of"))
    elif name == "pairs" and value == {}:
        yield say("no pair is in any tier, so it holds no texts")
    elif name in OTHER_COUNTS:
        if value:
            yield say_number(*OTHER_COUNTS[name], value)
    else:
        yield _tell_plainly(name, value)


def _tell_plainly(name: str, value: Any) -> Sentence:
    if isinstance(value, Mapping):
        value = [_tell_plainly(key, item) for key, item in value.items()]
    elif isinstance(value, float):
        value = Written(f"{value:.3f}")
    return say("%(name)s: %(value)s", name=say(name.replace("_", " ").replace("%", "%%")), value=value)


def _thing(name: str, value: Any) -> Any:
    return say_number(*THINGS[name], value) if name in THINGS else value
