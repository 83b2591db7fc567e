"""Makes docs/openapi.json anew, which describes the JSON API: `python docs/openapi.py`, with the extra `web` installed.

The description is the same for every study, so an empty one will do.
"""

from __future__ import annotations

import json
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fcpair.params import Annotate
from fcpair.study import Study
from fcpair.web.app import create_app

FILE = Path(__file__).with_name("openapi.json")


def described() -> dict[str, Any]:
    """The API as the code describes it."""
    with TemporaryDirectory() as folder:
        study = Study.create(Path(folder) / "study.db")
        app = create_app(study, Annotate())
        study.close()
    return app.openapi()


def kept() -> dict[str, Any]:
    """The API as it stands in the file."""
    document: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return document


def difference(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The lines in which two descriptions differ, with some around them; a release by itself changes nothing here."""
    before, after = (_text({**one, "info": {**one["info"], "version": "any"}}).splitlines() for one in (old, new))
    return list(unified_diff(before, after, FILE.name, "the code", lineterm="", n=2))


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    FILE.write_text(_text(described()), "utf-8", newline="\n")
