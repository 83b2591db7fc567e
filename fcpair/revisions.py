"""The revisions of a study's tables, and the one with which each version of fcpair was released."""

from __future__ import annotations

# The migrations, oldest first; a test holds them against the scripts, so that opening need not load Alembic.
OLDER = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "0010", "0011", "0012", "0013")
HEAD = "0014"
# A version that is here has this revision for ever: where HEAD moves on, setup.cfg has the next version as `.dev0`. A
# release adds its own line.
RELEASED = {
    "0.1.0": "0001",
    "0.2.0": "0001",
    "0.3.0": "0002",
    "0.4.0": "0003",
    "0.5.0": "0004",
    "0.6.0": "0005",
    "0.7.0": "0007",
    "0.8.0": "0012",
}
