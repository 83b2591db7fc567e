"""import."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from fcpair.cli.old_spellings import with_old_spellings, with_old_values
from fcpair.cli.options import recipe_params, redo_option, with_study
from fcpair.cli.output import print_run, status_spinner
from fcpair.params import CorpusFormat, Import

if TYPE_CHECKING:
    from fcpair.study import Study

FORMATS = get_args(CorpusFormat)


@with_old_values("--reader", **{name: name for name in FORMATS})
@with_old_spellings(language="--only-language")
@click.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@recipe_params(Import, without=("path",))
@redo_option
@with_study
def import_(study: Study, path: Path, said: dict[str, Any], redo: bool) -> None:
    """Read the corpus that the study starts from.

    \b
    Example:
      fcpair import CONAN.csv --reader conan --only-language en
      fcpair import corpus.jsonl --hs-column claim --cn-column reply
      fcpair import corpus.xlsx --sheet-name pairs
      fcpair import texts.csv --unpaired --hs-id-column qid --cn-id-column docid
    """
    with status_spinner("reading the corpus"):
        run = study.import_corpus(study.recipe_options(Import, path=path, **said), redo=redo)
    print_run(run)
