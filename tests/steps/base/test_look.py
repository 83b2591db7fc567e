"""A look at a study: all that it asks is of one moment."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fcpair.study import Study


@pytest.mark.server
def test_a_look_finds_what_others_find_and_ends_where_somebody_writes(at: Callable[[str], Study]) -> None:
    study = at("checked")
    with Study.look(study.address) as looking:
        assert looking.grid().tiers().table().sizes == study.grid().tiers().table().sizes
        assert looking.status()["pairs"] == study.status()["pairs"]
        run = looking.grid().desk.add_note(text="Two of them talked about it.")
        assert looking.log()[-1].id == study.log()[-1].id == run.id
