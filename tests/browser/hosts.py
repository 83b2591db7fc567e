"""Studies on the way to a browser: served by the real server, in a thread of this process."""

from __future__ import annotations

import csv
import json
import socket
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any

import uvicorn
from awaited import until
from steps.small import CODE, NAMES, set_candidates, standing, write_csv
from web.conftest import Site

from fcpair.grid import AdjudicationQueue
from fcpair.params import Annotate, Assign, Import, Pair, Select, Setup
from fcpair.records import Role, Rule
from fcpair.study import Study

PATIENCE_S = 20.0
EXAMPLES = Path(__file__).parents[2] / "examples"
PERSIAN = "کسانی که چای را با قند می\u200cخورند هیچ\u200cوقت طعم واقعی چای را نمی\u200cفهمند."
PIZZA = "People who put pineapple on pizza cannot be trusted with any decision."
ENGLISH = (
    "Cyclists think the whole road was built for them.",
    "Night owls are just too lazy to get up like normal people.",
    "Left-handers do everything the wrong way round just to be different.",
    PIZZA,
    "People who whistle in public believe they are the star of a film.",
)
TERMS = Annotate(
    about="We ask which **replies** suit which statements.",
    contact="Kim, telephone 555 0100",
    demographics=("Age group: 18-29 | 30-49 | 50 or more", "First language"),
    opt_out="hs_topic",
)


class Host(Site):
    """A study, and the address at which it is served; of each role somebody takes part."""

    def __init__(self, study: Study, annotate: Annotate) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        super().__init__(study, annotate, self.url)
        self._server = uvicorn.Server(
            uvicorn.Config(self.app, log_level="warning", access_log=False, server_header=False, ws="none")
        )
        self._thread = Thread(target=self._server.run, args=([listener],))
        self._thread.start()
        until(lambda: self._server.started or not self._thread.is_alive())
        assert self._server.started, "the server did not start"

    def person(self, name: str) -> int:
        return next(one.id for one in self.study.people if one.name == name)

    def hide_texts(self, name: str) -> None:
        self.token(name)
        self.study.access.set_blurred(self.person(name), True)

    @property
    def decided(self) -> list[int]:
        """The pairs that a person has decided."""
        return [pair for pair, (rule, _) in standing(self.study).items() if rule == Rule.PERSON]

    @property
    def decisions(self) -> list[tuple[int, str, str]]:
        """The pair, outcome and note of each decision, the oldest first."""
        made = AdjudicationQueue(self.study.grid()).decisions()
        return [(one.cell_id, one.outcome, one.note) for one in reversed(made)]

    @property
    def codes(self) -> list[tuple[int, int]]:
        """Assignment and code of each judgement, in the order in which they came."""
        return query(self.study.place, f"SELECT assignment_id, {CODE} FROM judgement ORDER BY id")

    @property
    def given(self) -> list[tuple[str, str, str]]:
        return given(self.study.place)

    @property
    def answers(self) -> list[tuple[int, Any]]:
        """The number of the cell and the answer of each judgement, in the order in which they came."""
        rows = query(
            self.study.place,
            "SELECT cell_id & 4294967295, value FROM judgement JOIN assignment ON assignment.id = assignment_id "
            "LEFT JOIN answer ON answer.id = answer_id ORDER BY judgement.id",
        )
        return [(cell, None if value is None else json.loads(value)) for cell, value in rows]

    def close(self) -> None:
        """End the server, which lets go of the study."""
        self._server.should_exit = True
        self._thread.join(PATIENCE_S)
        super().close()


Serve = Callable[..., Host]


def query(place: str | Path, sql: str) -> list[Any]:
    with closing(sqlite3.connect(place)) as connection:
        return connection.execute(sql).fetchall()


def given(place: str | Path) -> list[tuple[str, str, str]]:
    rows = query(
        place,
        f"SELECT hs.body, cn.body, {CODE} FROM judgement JOIN assignment ON assignment.id = judgement.assignment_id "
        "JOIN cell ON cell.id = assignment.cell_id JOIN text AS hs ON hs.id = cell.row_id "
        "JOIN text AS cn ON cn.id = cell.column_id ORDER BY judgement.id",
    )
    return [(hs, cn, NAMES[code]) for hs, cn, code in rows]


def build(
    folder: Path,
    hs: Sequence[str],
    n_cn: int,
    annotators: Sequence[str],
    *,
    overlap: dict[int, float] | None = None,
    extra: Sequence[tuple[str, str]] = (),
) -> Path:
    """A study of the example corpus in which labels are being given: each of `hs` with all candidates.

    The candidates are `n_cn` CNs of the corpus's other HS, and those of `extra`, which are pairs of an HS and a CN that
    join the corpus.
    """
    with (EXAMPLES / "corpus.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rows += [{**rows[0], "hs": one, "cn": cn, "hs_topic": "extra"} for one, cn in extra]
    study = Study.create(
        folder / "study.db",
        Setup(title="Mild prejudices", guidelines=EXAMPLES / "guidelines.md", hs_name="statement", cn_name="reply"),
    )
    grid = study.grid()
    study.import_corpus(Import(write_csv(folder / "corpus.csv", rows)))
    grid.select(Select(hs_list=write_csv(folder / "hs.csv", [{"hs": one} for one in hs])))
    own = {row["cn"] for row in rows if row["hs"] in hs}
    added = dict.fromkeys(cn for _, cn in extra if cn not in own)
    others = dict.fromkeys(row["cn"] for row in rows if row["cn"] not in own and row["language"] == "en")
    set_candidates(study, [*added, *[cn for cn in others if cn not in added][:n_cn]])
    grid.pair(Pair())
    study.add_people(list(annotators), Role.ANNOTATOR)
    grid.assign(Assign(overlap=overlap or {}, seed=1))
    study.close()
    return folder / "study.db"
