"""Commands that are one act: a method of a grid or of the study is called, and what it did is printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import click

from fcpair.cli.given_options import Command
from fcpair.cli.options import (
    FILE,
    PATH,
    as_click_type,
    option,
    params,
    recipe_params,
    redo_option,
    seed_option,
    shared_option,
    with_grid,
    with_study,
)
from fcpair.cli.output import note_trial, print_note, print_receipt, print_run, progress, status_spinner
from fcpair.known_pairs import Controls, Qualification
from fcpair.param_values import N_PEOPLE
from fcpair.params import (
    ANNOTATORS_HELP,
    Calibration,
    Extend,
    Further,
    Import,
    Pair,
    Retrieve,
    Select,
    Simulate,
    Validate,
)


@dataclass(frozen=True)
class Act:
    """A command that calls `method`, with its own options by their names, and `also`.

    An instance of `params` comes first, made of what is given and, `by_recipe`, of the study's recipe; fields in
    `without` have options of their own. `working` is shown meanwhile, `counted` as far as it is done; `then` is called
    at the end.
    """

    method: str
    help: str
    params: type | None = None
    without: tuple[str, ...] = ()
    by_recipe: bool = True
    options: tuple[Callable[[Command], Command], ...] = ()
    also: Mapping[str, Any] = field(default_factory=dict)
    of_study: bool = False
    working: str = ""
    counted: bool = False
    then: Callable[[Any], None] | None = None


examples_round = shared_option("--round", required=True, metavar="NAME", detail="Its models are shown the examples.")
_FILE = click.argument("file", type=FILE)
_NAME = click.argument("name")
_ROUND = shared_option("--round", metavar="NAME", detail="By default the one that counts.")
_EARLY = option("--early", is_flag=True, help="Go on without the answers that are still open.")
_WITHDRAW = """Withdraw all {what} of a file that was imported by mistake, or one of them.

RUN is the number that the import printed; `fcpair log` has it too. {its} --pair and --who name what one person gave to
one pair.

\b
Example:
  fcpair {group} withdraw 12{grid}
  fcpair {group} withdraw --pair 7 --who ana{grid}
"""
_WITHDRAW_VERDICTS = "Its verdicts stay on record as withdrawn, and their pairs are open again."
_WITHDRAW_ANSWERS = (
    "Its answers stay on record as withdrawn, and what was answered is open again, so that the right file can be "
    "imported. Simulated answers can be withdrawn in the same way."
)


def _read_names(_ctx: click.Context, _param: click.Parameter, value: str | tuple[str, ...]) -> tuple[str, ...]:
    """One label, or several, as several."""
    return (value,) if isinstance(value, str) else value


_LABEL = click.argument("labels", callback=_read_names, metavar="LABEL")
_NEW_LABEL = click.argument("into", callback=_read_names, metavar="NAME")
_CHANGE = (
    shared_option("--reason", required=True, metavar="TEXT", detail="It stays on record."),
    shared_option("--dry-run", is_flag=True, callback=note_trial, detail="It says what would follow."),
)


def _relabelling(kind: str, help_: str, *options: Callable[[Command], Command]) -> Act:
    return Act("relabel", help_, options=(*options, *_CHANGE), also={"kind": kind})


ACTS = {
    "import": Act(
        "import_corpus",
        """Read the corpus that the study starts from.

        \b
        Example:
          fcpair import CONAN.csv --reader conan --only-language en
          fcpair import corpus.jsonl --hs-column claim --cn-column reply
          fcpair import corpus.xlsx --sheet-name pairs
          fcpair import texts.csv --unpaired --hs-id-column qid --cn-id-column docid
        """,
        Import,
        without=("path",),
        options=(redo_option, click.argument("path", type=PATH)),
        of_study=True,
        working="reading the corpus",
    ),
    "select": Act(
        "select",
        """Choose the HS, by seed or from a file.

        \b
        Example:
          fcpair select --hs 45 --seed 13
          fcpair select --hs-list hs45.csv
        """,
        Select,
        options=(redo_option,),
    ),
    "retrieve": Act(
        "retrieve",
        """Retrieve candidate CNs.

        They are the CNs nearest to those that the corpus pairs with the selected HS, those of a list, those at the top
        of TREC runs, or all that the corpus has.

        \b
        Example:
          fcpair retrieve --k 2 --count-duplicates
          fcpair retrieve --backend onnx --dask local:4
          fcpair retrieve --cn-list candidates.csv
          fcpair retrieve --run bm25.trec --run dense.trec --depth 20
        """,
        Retrieve,
        options=(redo_option,),
        working="retrieving",
        counted=True,
    ),
    "pair": Act(
        "pair",
        """Cross the HS with the candidates.

        Pairs that occur in the corpus are left out: only novel pairs are assigned, unless `--keep-known` is given.

        \b
        Example:
          fcpair pair --candidates 129 --seed 13
        """,
        Pair,
        options=(redo_option,),
        working="making the grid",
    ),
    "extend": Act(
        "extend",
        """Add HS, CNs or both to a grid that is there.

        New HS are crossed with all CNs and new CNs with all HS, as a block behind the pairs that are there: these keep
        their numbers, labels and tiers. Where pairs are assigned, the new ones are, too, with the same overlap.
        `fcpair blocks` shows the blocks, and whether they differ.

        \b
        Example:
          fcpair extend --hs 5 --seed 14
          fcpair extend --hs-list new.csv --new-texts
          fcpair extend --run dense.trec --depth 20
        """,
        Extend,
        by_recipe=False,
        options=(shared_option("--dry-run", is_flag=True),),
        working="extending the grid",
    ),
    "further": Act(
        "save.further",
        """Ask further people where labels tie or somebody is not sure.

        The rules hold from now on: as soon as all labels of a pair are in, and for those that are there already. Who is
        asked has not seen the pair, and is within every limit. Agreement is measured without such labels.

        \b
        Example:
          fcpair further --if-tied 1 --if-not-sure 2 --most 4
          fcpair further --if-tied 0 --if-not-sure 0
        """,
        Further,
        working="asking further people",
    ),
    "calibrate start": Act(
        "calibration.start",
        """Draw a batch, and assign it to everybody, before the pairs are assigned.

        \b
        Example:
          fcpair calibrate start --pairs 20 --annotators 3 --seed 13
          fcpair calibrate start --grid rate --pairs 10 --counts second
        """,
        Calibration,
        without=("round",),
        options=(
            shared_option(
                "--round", metavar="NAME", detail="People calibrate themselves for it. By default the one that counts."
            ),
            option(
                "--annotators",
                type=as_click_type(int, N_PEOPLE),
                help=f"{ANNOTATORS_HELP[0].upper()}{ANNOTATORS_HELP[1:]}.",
            ),
        ),
    ),
    "calibrate discuss": Act(
        "calibration.open_discussion",
        """Open the discussion: who differed sees all answers, and answers again.

        The first answers stand from then on. Answers are shown without names, and only on pairs that a person has
        answered.

        \b
        Example:
          fcpair calibrate discuss
        """,
        options=(_EARLY,),
    ),
    "calibrate close": Act(
        "calibration.close",
        """End the calibration, so that the pairs can be assigned.

        \b
        Example:
          fcpair calibrate close
        """,
        options=(_EARLY,),
    ),
    "simulate": Act(
        "simulate",
        """Let simulated people answer what is open.

        This is for planning or demonstrating a study; every figure that rests on it says so. Those below the pass mark
        of a qualification wait until `fcpair people let-on` lets them begin.

        \b
        Example:
          fcpair simulate --accuracy 0.9 --not-sure 0.05 --seed 13
        """,
        Simulate,
        working="simulating",
        then=lambda grid: print_note(grid.desk.simulated_note),
    ),
    "people qualify": Act(
        "save.qualification",
        """Set known pairs that everybody answers before their shard.

        The table has the columns `row`, `column`, `answer` and `explanation`, with texts of the grid or their ids. Set
        it before `fcpair assign`, which gives each person known pairs that are not in their shard. Below the pass mark
        people wait until you decide.

        \b
        Example:
          fcpair people qualify known.csv --pass-mark 0.75 --known-pairs 40
        """,
        Qualification,
        without=("file",),
        options=(_FILE,),
    ),
    "people controls": Act(
        "save.controls",
        """Set known pairs that `fcpair assign` puts among those of each shard.

        The table is as for `fcpair people qualify`, but explanations may be missing. Nobody can tell a control pair,
        and none counts for a tier or a figure.

        \b
        Example:
          fcpair people controls controls.csv --rate 0.05
        """,
        Controls,
        without=("file",),
        options=(_FILE,),
    ),
    "people let-on": Act(
        "desk.let_on",
        """Let somebody below the pass mark begin their shard.

        \b
        Example:
          fcpair people let-on ben
        """,
        options=(_NAME,),
    ),
    "people retire": Act(
        "retire",
        """Retire a person: what they did stays, their open work goes to others.

        \b
        Example:
          fcpair people retire ben
        """,
        options=(_NAME, seed_option),
        of_study=True,
    ),
    "people handover": Act(
        "hand_over",
        """Give a person's open work to others.

        \b
        Example:
          fcpair people handover ben --to ana
          fcpair people handover ben --last 20
        """,
        options=(
            _NAME,
            option("--to", help="The person who takes over; if not given, everybody else in the role."),
            option("--last", type=int, metavar="N", help="Hand over only the last N open pairs; all if not given."),
            seed_option,
        ),
        of_study=True,
    ),
    **{
        f"{group} withdraw": Act(
            "withdraw",
            _WITHDRAW.format(what=what, its=its, group=group, grid=grid),
            options=(
                click.argument("run", type=int, required=False),
                option("--pair", type=int, metavar="N", help="The number of the pair that it is about."),
                option("--who", metavar="NAME", help="The person whose answer it is."),
                option("--note", default="", metavar="TEXT", help="Why; it stays on record."),
                *([_ROUND] if group == "answers" else []),
            ),
            also={"kind": kind},
        )
        for group, kind, what, its, grid in (
            ("labels", "labels", "answers", _WITHDRAW_ANSWERS, ""),
            ("answers", "answers", "answers", _WITHDRAW_ANSWERS, " --grid write"),
            ("validate", "verdicts", "verdicts", _WITHDRAW_VERDICTS, ""),
        )
    },
    "labels rename": _relabelling(
        "rename",
        """Give a label another name.

        Answers stay as they were given, and read as the new name from then on; so does an old sheet.

        \b
        Example:
          fcpair labels rename appropriate suitable --reason "it was misread"
        """,
        *(_LABEL, _NEW_LABEL),
    ),
    "labels merge": _relabelling(
        "merge",
        """Make one label of several.

        They must all be positive, or all not, and all definite, or all not. Answers that differed only in these labels
        agree from then on.

        \b
        Example:
          fcpair labels merge rude hostile --into harsh --reason "nobody could tell them apart"
        """,
        click.argument("labels", nargs=-1, required=True, metavar="LABEL..."),
        shared_option("--into", required=True, callback=_read_names, metavar="NAME"),
    ),
    "labels split": _relabelling(
        "split",
        """Make several labels of one, and ask its people again.

        Nobody can tell which of the new ones was meant. So answers with the label count no more, their pairs go back to
        the people who gave them, and what people decided by it waits for a second look. As in one_of(...), `+` after a
        new name says that the label is positive, and `?` that it cannot be final.

        \b
        Example:
          fcpair labels split good --into kind+ --into true --reason "two questions in one"
        """,
        *(_LABEL, shared_option("--into", multiple=True, required=True, metavar="NAME")),
    ),
    "labels add": _relabelling(
        "add",
        """Add a label, which people can give from then on.

        As in one_of(...), `+` after its name says that it is positive, and `?` that it cannot be final.

        \b
        Example:
          fcpair labels add unclear? --reason "some CNs are cut off"
        """,
        _NEW_LABEL,
    ),
    "validate assign": Act(
        "assign_validation",
        """Assign adjudicated pairs to validators who took no part in them.

        \b
        Example:
          fcpair validate assign --validators 4 --pairs 4000 --seed 13
        """,
        Validate,
        options=(redo_option, shared_option("--more", is_flag=True, detail="Pairs without a verdict are added.")),
        working="assigning pairs",
    ),
    "examples find": Act(
        "examples.find",
        """Find the examples of each row of a round.

        None of them answers the row's own text. With --redo, reviews of examples that are found again are kept.

        \b
        Example:
          fcpair examples find --grid replies --round propose
        """,
        options=(examples_round, redo_option),
        working="encoding",
        counted=True,
    ),
}
"""By the words that call them, in the order in which a study needs them."""


def add_acts(group: click.Group) -> None:
    """Give the group the acts whose words begin with its name."""
    for words in ACTS:
        if words.startswith(f"{group.name} "):
            group.add_command(make_command(words))


def make_command(words: str) -> click.Command:
    """The command of an act."""
    act = ACTS[words]

    def call(**arguments: Any) -> None:
        target = arguments.pop("study" if act.of_study else "grid")
        shown = progress(act.working) if act.counted else status_spinner(act.working) if act.working else nullcontext()
        with shown as report:
            options = []
            if act.params and not act.by_recipe:
                options.append(arguments.pop("options"))
            elif act.params:
                own = {name: arguments.pop(name) for name in act.without}
                given = arguments.pop("said") | {name: value for name, value in own.items() if value is not None}
                options.append(target.recipe_options(act.params, more=arguments.get("more", False), **given))
            if act.counted:
                arguments["progress"] = report
            run = attrgetter(act.method)(target)(*options, **arguments, **act.also)
        if arguments.get("dry_run"):
            print_receipt(f"would be: {run.told}", run.counts)
        else:
            print_run(run)
        if act.then:
            act.then(target)

    command: Command = (with_study if act.of_study else with_grid)(call)
    for give_option in reversed(act.options):
        command = give_option(command)
    if act.params:
        command = (recipe_params if act.by_recipe else params)(act.params, without=act.without)(command)
    return click.command(words.rsplit(maxsplit=1)[-1], help=act.help)(command)


import_, select, retrieve, pair, extend, further, simulate = map(
    make_command, ("import", "select", "retrieve", "pair", "extend", "further", "simulate")
)
