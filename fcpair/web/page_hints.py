"""Where on the pages one does what a message says of a command: who reads it here has come by `fcpair serve`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fcpair.web.languages import ENGLISH, Language
from fcpair.web.page_phrases import mark

PLACES: Mapping[str, str] = {
    "serve": mark("use these pages"),
    "validate assign": mark("“Assign pairs to validators” on Conflicts"),
    "partition": mark("“Tiers as they would be now” on Progress"),
    "report": mark("“Report” on Downloads"),
}
GO_TO = mark("go to %(place)s")
_COMMAND = re.compile(rf"(run )?`fcpair ({'|'.join(PLACES)})( --[^`]*)?`")


def replace_commands(sentence: str, language: Language = ENGLISH) -> str:
    """The sentence with the place on the pages instead of each command that they have a place for."""

    def replace(command: re.Match[str]) -> str:
        place = language.find(PLACES[command[2]])
        return language.gettext(GO_TO, place=place) if command[1] else place

    return _COMMAND.sub(replace, sentence)
