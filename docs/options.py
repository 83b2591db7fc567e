"""Makes docs/reference/options.md, the table of all options: `python docs/options.py`."""

from __future__ import annotations

from pathlib import Path

from fcpair.cli import main
from fcpair.cli.option_table import format_options

PAGE = Path(__file__).parent / "reference" / "options.md"
HEAD = """# All options

What each option of the command line means. An option has the same meaning and type in every command that has it;
`fcpair COMMAND --help` shows details and defaults. An old spelling works for one more version, and the new one is named
on standard error.

`python docs/options.py` makes this page from the commands.

"""


def page() -> str:
    """The text of the page."""
    return HEAD + format_options(main)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
