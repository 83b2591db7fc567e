"""init, upgrade, import, select, retrieve, pair."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.options import params, redo_option, study_option, with_study
from fcpair.cli.output import done, progress, working
from fcpair.cli.terminal import show
from fcpair.params import Import, Pair, Retrieve, Select, Setup

if TYPE_CHECKING:
    from fcpair.study import Study


@click.command()
@params(Setup, without=("scheme",))
@study_option
def init(study: Path, options: dict[str, Any]) -> None:
    """Make a new, empty study.

    A label scheme of your own comes from a recipe: see `fcpair run`.

    \b
    Example:
      fcpair init --title "Cyclists and night owls" --guidelines guidelines.md
    """
    from fcpair.study import Study

    Study.create(study, Setup(**options)).close()
    show(f"{study}: a new study")


@click.command()
@study_option
def upgrade(study: Path) -> None:
    """Bring a study of an older fcpair up to date.

    A copy of the study as it was stays beside it.

    \b
    Example:
      fcpair upgrade --study study.db
    """
    from fcpair.study import Study

    copy = Study.upgrade(study)
    show(f"{study}: {'up to date already' if copy is None else f'upgraded; as it was, it is {copy}'}")


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@params(Import, without=("path",))
@redo_option
@with_study
def import_(study: Study, path: Path, options: dict[str, Any], redo: bool) -> None:
    """Read the corpus that the study starts from.

    \b
    Example:
      fcpair import CONAN.csv --format conan --language en
      fcpair import corpus.jsonl --format jsonl --hs-column claim --cn-column reply
      fcpair import texts.csv --unpaired --hs-id-column qid --cn-id-column docid
    """
    with working("reading the corpus"):
        run = study.import_corpus(Import(path, **options), redo=redo)
    done(run)


@click.command()
@params(Select)
@redo_option
@with_study
def select(study: Study, options: Select, redo: bool) -> None:
    """Choose the HS, by seed or from a file.

    \b
    Example:
      fcpair select --hs 45 --seed 13
      fcpair select --list hs45.csv
    """
    done(study.select(options, redo=redo))


@click.command()
@params(Retrieve)
@redo_option
@with_study
def retrieve(study: Study, options: Retrieve, redo: bool) -> None:
    """Bring candidate CNs in.

    They are the CNs nearest to those that the corpus pairs with the selected HS, those of a list, or those at the top
    of TREC runs.

    \b
    Example:
      fcpair retrieve --k 2 --count-duplicates
      fcpair retrieve --list candidates.csv
      fcpair retrieve --run bm25.trec --run dense.trec --depth 20
    """
    with progress("encoding") as report:
        run = study.retrieve(options, redo=redo, progress=report)
    done(run)


@click.command()
@params(Pair)
@redo_option
@with_study
def pair(study: Study, options: Pair, redo: bool) -> None:
    """Cross the HS with the candidates.

    Pairs that stand in the corpus are left out: only novel pairs are put before people, unless `--keep-known` is given.

    \b
    Example:
      fcpair pair --candidates 129 --seed 13
    """
    with working("making the grid"):
        run = study.pair(options, redo=redo)
    done(run)
