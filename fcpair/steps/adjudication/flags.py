"""Flags: the decisions on which an adjudicator noted that the guidelines should say more, and at which sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fcpair.errors import InputError
from fcpair.records import UNDECIDED, RunRecord
from fcpair.sentences import Id, say
from fcpair.steps.base.context import GridContext, note_run, scheme_of
from fcpair.store import Tx
from fcpair.store.answers import activity_log
from fcpair.store.corpus.grids import to_public_number
from fcpair.store.oversight import settings
from fcpair.store.people import guidelines

STAGE = "flags"  # of the settings: the sentence of each flagged pair, by its number
_BLOCKS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+>|]|\d+[.)]|#{1,6})\s)")
_MARKS = re.compile(r"^(?:[-*+>|]|\d+[.)]|#{1,6})\s+")
_ENDS = re.compile(r"(?<=[.!?؟。])\s+")


@dataclass(frozen=True)
class Flag:
    """A decision on which somebody noted that the guidelines should say more; `stands` while it is the newest one.

    `sentence` is that of the guidelines at which a lead has put it; empty where nobody has.
    """

    cell_id: int
    hs: str
    cn: str
    outcome: str
    by: str | None
    note: str
    at: str
    stands: bool
    sentence: str = ""


def load_flags(tx: Tx) -> list[Flag]:
    """The flags of the grid, newest first."""
    names: dict[int | None, str] = {None: "discarded", **{choice.code: choice.name for choice in scheme_of(tx)}}
    sentences = settings.of_stage(tx, STAGE)
    return [
        Flag(
            to_public_number(row.cell_id),
            row.hs,
            row.cn,
            "taken back" if row.rule in UNDECIDED else names[row.code],
            row.by,
            row.note,
            row.at,
            row.stands,
            sentences.get(str(to_public_number(row.cell_id)), ""),
        )
        for row in activity_log.flagged_decisions(tx)
    ]


def split_sentences(body: str) -> list[str]:
    """The sentences of guidelines in Markdown, headings and items of lists included, each once, in order."""
    blocks = (_MARKS.sub("", " ".join(block.split())) for block in _BLOCKS.split(body))
    return list(dict.fromkeys(sentence for block in blocks for sentence in _ENDS.split(block) if sentence))


def guideline_sentences(grid: GridContext) -> list[str]:
    """The sentences of the guidelines in force, at which flags can be put."""
    with grid._store.read() as tx:
        return split_sentences(guidelines.current_version(tx)[1])


def place_flag(grid: GridContext, pair: int, sentence: str) -> RunRecord:
    """Note at which sentence of the guidelines a flagged pair asks for more; an empty one takes that back.

    The flag stays there when the guidelines change, and its page says when the sentence is there no more.

    Raises:
        InputError: the pair is not flagged, or the guidelines in force have no such sentence.
    """
    with grid._store.write() as tx:
        if pair not in {flag.cell_id for flag in load_flags(tx)}:
            raise InputError(
                say("pair %(number)s has no flag; choose one that an adjudicator has flagged", number=Id(pair))
            )
        version, body = guidelines.current_version(tx)
        if sentence and sentence not in split_sentences(body):
            raise InputError(
                say(
                    "version %(version)s of the guidelines has no sentence `%(sentence)s`; choose one of its own",
                    version=Id(version),
                    sentence=sentence,
                )
            )
        run = note_run(tx, "guidelines", {"flag": pair, "sentence": sentence, "version": version}, {"pairs": 1})
        settings.save_settings(tx, STAGE, {str(pair): sentence}, run.id)
        return run
