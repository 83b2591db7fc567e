"""Where on the pages one does what a message says of a command: who reads it here has come by `fcpair serve`."""

from __future__ import annotations

import re
from collections.abc import Mapping

PLACES: Mapping[str, str] = {
    "serve": "use these pages",
    "validate assign": "“Assign pairs to validators” on Conflicts",
    "partition": "“Tiers as they would be now” on Progress",
    "report": "“Report” on Downloads",
}
_COMMAND = re.compile(rf"(run )?`fcpair ({'|'.join(PLACES)})( --[^`]*)?`")


def replace_commands(sentence: str) -> str:
    """The sentence with the place on the pages instead of each command that they have a place for."""
    return _COMMAND.sub(lambda found: f"{'go to ' if found[1] else ''}{PLACES[found[2]]}", sentence)
