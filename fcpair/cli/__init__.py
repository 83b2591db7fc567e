"""The command line: parses, calls Study, shows."""

from __future__ import annotations

import sys
from typing import Any

import click

from fcpair.cli import build, check, grade, judge, people, run, show, work
from fcpair.errors import FcpairError

USAGE_OR_DATA, DEFECT = 2, 3


class Road(click.Group):
    """The commands in the order of the road, and errors as messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands as they were added, not sorted."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what a user can cause ends with a message and exit 2, a defect with exit 3."""
        if ctx.params.get("debug"):
            return super().invoke(ctx)
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except FcpairError as error:
            click.echo(f"Error: {error}", err=True)
            sys.exit(USAGE_OR_DATA)
        except OSError as error:
            click.echo(f"Error: {error.filename or 'a file'}: {error.strerror or error}", err=True)
            sys.exit(USAGE_OR_DATA)
        except Exception as error:
            click.echo(
                f"Error: fcpair itself failed ({type(error).__name__}: {error}). The study is as it was.", err=True
            )
            click.echo("`fcpair --debug ...` shows where; please report that.", err=True)
            sys.exit(DEFECT)


@click.group(cls=Road, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(package_name="fcpair")
def main(debug: bool) -> None:
    """Build densely judged datasets of text pairs.

    The road, in its order: a corpus is imported, HS are selected, candidates retrieved and crossed with them, the pairs
    dealt to annotators, their labels recorded, agreement measured, conflicts adjudicated, labels validated, and the
    pairs graded into Diamond, Gold, Silver and Bronze.

    \b
    Example:
      fcpair init
      fcpair import corpus.csv
      fcpair select --hs 12 --seed 13
    """


for command in (
    *build.COMMANDS,
    *work.COMMANDS[:1],
    people.people,
    *work.COMMANDS[1:],
    show.status,
    judge.agreement,
    judge.adjudicate,
    check.validate,
    *grade.COMMANDS,
    show.report,
    show.log,
    run.run,
):
    main.add_command(command)
