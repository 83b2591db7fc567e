"""Small studies from the example corpus, built without the encoder."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from steps.small import set_candidates, write_csv

from fcpair.params import Assign, Import, Pair, Select, Setup
from fcpair.records import Role
from fcpair.study import Study

EXAMPLES = Path(__file__).parents[2] / "examples"
PERSIAN = "کسانی که چای را با قند می\u200cخورند هیچ\u200cوقت طعم واقعی چای را نمی\u200cفهمند."
CYCLISTS = "Cyclists think the whole road was built for them."
OWLS = "Night owls are just too lazy to get up like normal people."
LEFT_HANDERS = "Left-handers do everything the wrong way round just to be different."
PIZZA = "People who put pineapple on pizza cannot be trusted with any decision."
WHISTLERS = "People who whistle in public believe they are the star of a film."
ENGLISH = (CYCLISTS, OWLS, LEFT_HANDERS, PIZZA, WHISTLERS)


def build(
    folder: Path,
    hs: Sequence[str],
    n_cn: int,
    annotators: Sequence[str],
    *,
    overlap: dict[int, float] | None = None,
    extra: Sequence[tuple[str, str]] = (),
) -> Path:
    """A study in which labels are being given: each of `hs` with all candidates.

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
