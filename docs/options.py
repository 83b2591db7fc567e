"""Makes docs/reference/options.md, the table of all options: `python docs/options.py`."""

from __future__ import annotations

from pathlib import Path

from fcpair.cli import main
from fcpair.cli.option_table import format_options

PAGE = Path(__file__).parent / "reference" / "options.md"
HEAD = """# All options

What each option of the command line means. A name has the same meaning and type in every command that has it; what more
there is to it in one of them, and its default there, is in `fcpair COMMAND --help`. An old spelling works for one more
version, and says the new one on standard error.

`python docs/options.py` makes this page from the commands.

"""


def page() -> str:
    """The text of the page."""
    return HEAD + format_options(main)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
