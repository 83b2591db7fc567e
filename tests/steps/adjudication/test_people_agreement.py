"""Two people of a study side by side, its most disputed texts, and agreement by metadata."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.grid import Monitor
from fcpair.params import Agree
from fcpair.study import Study
from steps.small import HS, record

At = Callable[[str], Study]


def test_two_people_are_compared_on_what_both_labelled(at: At) -> None:
    # Both labelled pairs 6, 7, 9, 11, 14, 21, 22 and 23; cleo dissents on 6, 9 and 21 (see `label_of`).
    both = at("labelled").grid().compare_people("ana", "cleo")
    assert (both.n, both.n_labels, both.raw_agreement) == (8, (14, 14), 5 / 8)
    assert both.table == ((2, 0, 1), (0, 0, 0), (2, 0, 3))
    assert both.kappa.value == pytest.approx((5 / 8 - 1 / 2) / (1 - 1 / 2))


def test_each_confusion_is_a_search_for_its_pairs(at: At) -> None:
    grid = at("labelled").grid()
    both = grid.compare_people("cleo", "ana")
    searches = [
        grid.find_pairs(person="cleo", answer=one, other="ana", other_answer=other).total
        for one in both.classes
        for other in both.classes
    ]
    assert searches == [n for counts in both.table for n in counts]
    found = grid.find_pairs(person="cleo", answer="not_appropriate", other="ana", other_answer="appropriate")
    assert found.to_frame()["pair"].tolist() == [9, 21]


def test_somebody_is_not_compared_with_themselves_or_nobody(at: At) -> None:
    grid = at("labelled").grid()
    with pytest.raises(InputError, match="name two people"):
        grid.compare_people("ana", "ana")
    with pytest.raises(UnknownIdError, match="nobody called `anna`"):
        grid.compare_people("ana", "anna")
    with pytest.raises(StageError, match="needs labels first"):
        at("dealt").grid().compare_people("ana", "cleo")


def test_the_most_disputed_texts_have_the_pairs_that_are_disputed(at: At) -> None:
    grid = at("labelled").grid()
    labels = grid.labels().groupby("pair")["label"].agg(["nunique", "count"])
    disputed = labels.index[labels["nunique"] > 1].tolist()
    sides = Monitor(grid).disputed_texts()
    assert sorted(pair for text in sides["row"].texts for pair in text.disputed) == disputed
    assert sorted(pair for text in sides["column"].texts for pair in text.disputed) == disputed
    assert {text.text for text in sides["row"].texts} <= set(HS)
    n = {text.text: text.n for text in sides["row"].texts}
    shared = labels.index[labels["count"] > 1].tolist()
    assert n == {text: sum((pair - 1) // 6 == HS.index(text) for pair in shared) for text in n}


def test_indefinite_labels_dispute_nothing_where_they_do_not_count(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    record(study, tmp_path, [("cleo", pair, "not_sure") for pair in (6, 9, 21)], supersede=True)
    grid = study.grid()
    before = {pair for text in Monitor(grid).disputed_texts()["row"].texts for pair in text.disputed}
    assert {6, 9, 21} <= before
    study.grid().agreement()
    with study._store.write() as tx:
        from fcpair.steps.base.context import note_stage_run

        note_stage_run(tx, Agree(indefinite="drop"), {})
    after = {pair for text in Monitor(grid).disputed_texts()["row"].texts for pair in text.disputed}
    assert not after & {6, 9, 21}


def with_topics(study: Study) -> Study:
    """Give the first two HS the topic `wheels`, the third `hands`, and the fourth none."""
    with study._store.write() as tx:
        for at, topic in enumerate(("wheels", "wheels", "hands")):
            meta = f'{{"topic": "{topic}", "id": "{at}"}}'
            tx.exec_driver_sql("UPDATE text SET meta = ? WHERE body = ?", (meta, HS[at]))
    return study


def test_agreement_is_measured_for_each_value_of_metadata(at: At) -> None:
    grid = with_topics(at("labelled")).grid()
    name = grid.desk.round_of_blocks(blocks="row", metadata="topic")
    assert name
    blocks = grid.agreement(round=name, blocks="row", metadata="topic")
    assert [block.of for block in blocks] == ["(no value)", "hands", "wheels"]
    labels = grid.labels()
    row = (labels["pair"] - 1) // 6
    n_labels = [block.agreement.n_labels for block in blocks if block.agreement]
    assert n_labels == [int((row == 3).sum()), int((row == 2).sum()), int((row < 2).sum())]
    wheels = blocks[2].agreement
    assert wheels
    assert "HS" in wheels.interval_scope  # of several rows, so that new ones are what it is about
    assert Monitor(grid).blocks("row", "topic") == blocks


def test_metadata_that_no_text_has_is_refused_with_the_nearest(at: At) -> None:
    grid = with_topics(at("labelled")).grid()
    with pytest.raises(InputError, match="no text of the rows has metadata called `topik`; did you mean `topic`"):
        grid.agreement(round="label", blocks="row", metadata="topik")
    with pytest.raises(InputError, match=r"metadata is `topic`, but the figures are not by column or row"):
        grid.agreement(metadata="topic")


def test_metadata_with_one_value_is_not_offered(at: At) -> None:
    columns = Monitor(with_topics(at("labelled")).grid()).metadata_columns()
    assert columns == {"row": ("hs_topic", "id", "topic"), "column": ()}
