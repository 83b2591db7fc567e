"""What can be had once everything has been answered: the commands to run then, grid by grid."""

from __future__ import annotations

from shlex import quote

from fcpair.params import Adjudicate
from fcpair.stages.question.labels import no_tiers
from fcpair.steps.answers import form_of
from fcpair.steps.ground import has_own, is_planned, labels_of
from fcpair.store import Tx, rounds
from fcpair.store.grids import each

OF_MAIN = "run `fcpair partition` for the tiers, `fcpair report --out report.html` for everything"


def when_all_is_done(tx: Tx) -> str:
    """What there is to run when nobody has anything left to do."""
    planned, given = [], list[str]()
    for one in each(tx):
        planned.append(is_planned(tx))
        given += _commands(tx, f"--grid {quote(one.name)}") if planned[-1] else ["`fcpair partition`"]
    if not any(planned):
        return OF_MAIN
    return f"everything has been answered: {', '.join(given)}, `fcpair report --out report.html`"


def _commands(tx: Tx, on: str) -> list[str]:
    """What is worth running on a planned grid, by what its round that counts asks."""
    counting = rounds.counting(tx)
    question, form = labels_of(tx), form_of(counting.form)
    tiers = question is not None and not no_tiers(question)
    several = counting.options.get("answers") != 1  # 0: everybody answers
    decide = "partition" if has_own(tx, Adjudicate) else "adjudicate"
    offered = (
        (several and bool(form.parts()), f"agreement {on}"),
        (tiers, f"{decide} {on}"),
        (not tiers, f"answers export {on} --out FILE"),
    )
    return [f"`fcpair {command}`" for due, command in offered if due]
