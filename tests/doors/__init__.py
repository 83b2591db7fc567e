"""Rules of the domain, each run at every door by which people reach it."""

import pytest

pytest.register_assert_rewrite("doors.door")
