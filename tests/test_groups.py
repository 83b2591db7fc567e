"""A worker runs the whole of a group, in the order of `conftest.py`, when `make` runs the tests."""

from __future__ import annotations

import pytest


def test_xdist_knows_the_group_of_a_test(request: pytest.FixtureRequest) -> None:
    """It adds the group to the id; where it cannot, it sends each test to any worker, and says nothing."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("not run in groups: `make test` does, by `--dist loadgroup`")
    assert request.node.nodeid.endswith("@test_groups")
