"""The command line: parses, calls Study or Grid, shows.

Commands print by `terminal` alone, which lets no text steer a terminal. A new command is listed in `SECTIONS`.
"""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from fcpair import revisions
from fcpair.cli import terminal
from fcpair.cli.given_options import check_given, check_once
from fcpair.errors import FcpairError

USAGE_OR_DATA, DEFECT = 2, 3
# As help lists them: under a heading the name, where the command is, and the first line of its help. Each is loaded
# when it is called, so that help comes at once; a test compares these lines with the commands.
SECTIONS = {
    "Study": {
        "init": ("oversight.status:init", "Create a new, empty study."),
        "run": ("oversight.status:run", "Run a recipe as far as it goes."),
        "recipe": ("oversight.status:recipe", "Print the current recipe of the study."),
        "status": ("oversight.status:status", "Show the state of the study and what is next."),
        "grids": ("oversight.status:grids", "List the grids, their sides and rounds."),
        "log": ("oversight.status:log", "List every run of every stage."),
        "note": ("oversight.status:note", "Note in the log what happened outside of the program."),
    },
    "Build": {
        "import": ("acts:import_", "Read the corpus that the study starts from."),
        "select": ("acts:select", "Choose the HS, by seed or from a file."),
        "retrieve": ("acts:retrieve", "Retrieve candidate CNs."),
        "pair": ("acts:pair", "Cross the HS with the candidates."),
        "extend": ("acts:extend", "Add HS, CNs or both to a grid that is there."),
        "plan": ("assign:plan", "Plan how much overlap is needed, and what it costs."),
        "calibrate": ("assign:calibrate", "A first batch that everybody answers, discusses, and answers again."),
        "assign": ("assign:assign", "Assign the pairs to annotators."),
        "further": ("acts:further", "Ask further people where labels tie or somebody is not sure."),
    },
    "People": {
        "people": ("people:people", "People: add, list, invite, revoke, role, ..."),
        "serve": ("oversight.serve:serve", "Let people answer, decide and watch in the browser."),
    },
    "Answers": {
        "labels": (
            "answers:labels",
            "Labels of annotators: sheets, import, withdraw, export; rename, merge, split, add.",
        ),
        "answers": ("answers:answers", "Answers of any round: export, sheets, import, replies, withdraw."),
        "simulate": ("acts:simulate", "Let simulated people answer what is open."),
        "examples": ("answers:examples", "Examples that models are shown: find, list, sheet, review."),
        "generate": ("answers:generate", "Ask the models of a round for their answers."),
        "curation": ("answers:curation", "Count accepted, edited and rejected texts."),
    },
    "Decide": {
        "agreement": ("agreement:agreement", "Measure how far annotators agree."),
        "blocks": ("agreement:blocks", "Show the blocks of a grid that was extended, and whether they differ."),
        "ranking": ("agreement:ranking", "Rank texts that were compared, row by row."),
        "aggregate": ("agreement:aggregate", "Compare label models with what people have decided."),
        "groups": ("ask:groups", "Test whether groups of annotators label differently."),
        "adjudicate": ("adjudicate:adjudicate", "Turn each pair's labels into one."),
        "validate": ("assign:validate", "Check labels: assign, sheets, import, withdraw."),
    },
    "Grade": {
        "partition": ("release.partition:partition", "Grade the pairs, or write one tier."),
        "explain": ("release.partition:explain", "Explain why a pair is in its tiers, or in none."),
        "evaluate": ("release.evaluate:evaluate", "Rank by systems, and score them on tiers."),
        "export": ("release.release:export", "Write files for other tools."),
        "report": ("oversight.status:report", "Write a self-contained HTML report."),
        "methods": ("oversight.status:methods", "Write the methods section of a paper."),
    },
    "Publish": {
        "release": ("release.release:release", "Freeze the study as a folder that others can cite, load and check."),
        "verify": ("release.release:verify", "Check that a release is what was written."),
        "diff": ("release.release:diff", "List the pairs that differ between two releases, and why."),
    },
    "Texts": {
        "describe": ("measure:describe", "Describe a table of texts: groups, labels, lengths, repeated texts."),
        "split": ("classify:split", "Split a table by its labels, with whole groups on one side."),
        "measure": ("measure:measure", "Measure texts: variety, overlap, readability, models."),
        "classify": ("classify:classify", "Measure how well labels were predicted."),
        "correlate": ("classify:correlate", "Correlate a measure of texts with ratings."),
        "ratings": ("classify:ratings", "Average ratings by source, criterion and rater."),
    },
    "Surveys and bias": {
        "ask": ("ask:ask", "Surveys: what people have heard and believe. import, open, results."),
        "items": ("bias:items", "Questions about two groups, made from templates: expand."),
        "diversity": ("measure:diversity", "Measure how varied templates, items or other texts are."),
        "bias": ("bias:bias", "Bias of language models in questions about two groups: score."),
    },
    "Keep": {
        "doctor": ("oversight.backup:doctor", "Find what was changed or lost in a study file."),
        "backup": ("oversight.backup:backup", "Write a copy of a study that is in use to a file."),
        "restore": ("oversight.backup:restore", "Restore a study from a backup, and examine it."),
        "copy": ("oversight.backup:copy", "Copy a study into a file or another database."),
        "upgrade": ("oversight.backup:upgrade", "Upgrade a study of an older fcpair."),
    },
}
COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}

# Most of what a short command makes are modules, which stay: looking through them for garbage as often as Python does,
# and once more at the end, takes a fifth of its time.
gc.set_threshold(20_000)
atexit.register(gc.freeze)


class CommandGroup(click.Group):
    """The commands in sections, and errors as messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Load a command; None when there is none of that name."""
        if name not in COMMANDS:
            return None
        from fcpair.cli.options import add_receipt_format

        module, _, attribute = COMMANDS[name][0].partition(":")
        command: click.Command = getattr(import_module(f"fcpair.cli.{module}"), attribute)
        # The server runs until it is stopped, and so has no result to print.
        return check_given(command if name == "serve" else add_receipt_format(command))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options before the command."""
        check_once(self, ctx, args)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; one that is not there gets the nearest name as a hint."""
        if args[0] not in COMMANDS:
            from difflib import get_close_matches

            if near := get_close_matches(args[0], COMMANDS, 1):
                ctx.fail(f"No such command '{args[0]}'. Did you mean '{near[0]}'?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, section by section, without loading them."""
        width = max(map(len, COMMANDS))
        for heading, commands in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in commands.items()])

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line, on any terminal."""
        terminal.adapt_streams()
        with terminal.tolerate_closed_pipes():
            return super().main(*args, **kwargs)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the arguments; `--help` and `--version` print here."""
        width = max(
            min(terminal.screen_width(), terminal.USUAL_WIDTH) - 2, 50
        )  # as click would, which loads every packer for it
        with terminal.tolerate_closed_pipes(), _sanitized_errors():
            return super().make_context(*args, terminal_width=width, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what a user can cause ends with a message and exit 2, a defect with exit 3."""
        with terminal.tolerate_closed_pipes(), _sanitized_errors(), terminal.table_notes_on_stderr():
            try:
                return super().invoke(ctx)
            except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
                raise
            except (KeyboardInterrupt, click.Abort):
                terminal.print_wrapped(
                    "\nStopped. What was finished is in the study; `fcpair status` shows it.", err=True
                )
                sys.exit(terminal.STOPPED)
            except Exception as error:
                if ctx.params.get("debug"):
                    import traceback

                    terminal.print_wrapped(traceback.format_exc(), err=True)
                sys.exit(_print_error(ctx, error))


@contextmanager
def _sanitized_errors() -> Iterator[None]:
    """Sanitize what click itself prints of an argument, such as a file's name, so that it steers no terminal either."""
    try:
        yield
    except click.ClickException as error:
        message = error.format_message()
        if terminal.sanitize(message) == message:
            raise
        raise click.UsageError(terminal.sanitize(message), getattr(error, "ctx", None)) from None


def _print_error(ctx: click.Context, error: Exception) -> int:
    """Say on standard error what went wrong; returns the exit code."""
    if isinstance(error, FcpairError):
        from fcpair.cli.output import word_error

        message = word_error(ctx, str(error))
    elif isinstance(error, OSError):
        message = f"{error.filename or 'a file'}: {error.strerror or error}"
    else:
        terminal.print_wrapped(f"Error: fcpair itself failed ({type(error).__name__}: {error}).", err=True)
        terminal.print_wrapped(
            "`fcpair log` shows what was finished; `fcpair --debug ...` shows where it failed.", err=True
        )
        terminal.print_wrapped("Please report this.", err=True)
        return DEFECT
    terminal.print_wrapped(f"Error: {message}", err=True)
    return USAGE_OR_DATA


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(package_name="fcpair", message=f"%(prog)s, version %(version)s (schema {revisions.HEAD})")
def main(debug: bool) -> None:
    """Build densely judged datasets of text pairs.

    The stages, in order: a corpus is imported, HS are selected, candidates retrieved and crossed with them, the pairs
    assigned to annotators, their labels recorded, agreement measured, conflicts adjudicated, labels validated, and the
    pairs graded into Diamond, Gold, Silver and Bronze.

    \b
    Example:
      fcpair init
      fcpair import corpus.csv
      fcpair select --hs 12 --seed 13
    """
