"""Sentences that whoever reads a figure must know: what was made up, and what people decided of labels that changed."""

from __future__ import annotations

from fcpair.records import Origin


def simulated_note(origins: dict[str, int]) -> str | None:
    """Note for the reader when answers were made up; None when none were."""
    n_simulated, n_by_models = (origins.get(one.value, 0) for one in (Origin.SIMULATED, Origin.GENERATED))
    if not n_simulated:
        return None
    n = sum(origins.values())
    is_all_made_up = n_simulated + n_by_models == n
    clause = "no figure here is about people" if is_all_made_up else "figures that rest on them are not about people"
    models_clause = f" and {n_by_models:,} are by models" if n_by_models else ""
    return f"{n_simulated:,} of {n:,} judgements are SIMULATED{models_clause}; {clause}"


def look_again(second_look: int, lost: int) -> list[str]:
    """Of how many pairs the decision, and the verdict, is about labels that have changed since."""
    notes = []
    if second_look:
        which = "1 pair was decided before its labels changed and waits"
        many = f"{second_look:,} pairs were decided before their labels changed and wait"
        notes.append(f"{which if second_look == 1 else many} for a second look; until then the decision stands")
    if lost:
        which = "1 pair has a verdict on a label that it no longer has"
        many = f"{lost:,} pairs have verdicts on a label that they no longer have"
        notes.append(f"{which if lost == 1 else many}; such a verdict does not count")
    return notes


def without_validator_notes(n: int) -> list[str]:
    """Of how many pairs nobody is asked for a verdict, because they were decided after the others had been assigned."""
    if not n:
        return []
    which = "1 pair was decided after the others were assigned to validators: it has no validator, and is"
    many = f"{n:,} pairs were decided after the others were assigned to validators: they have no validator, and are"
    return [f"{which if n == 1 else many} in no tier above Bronze; `fcpair validate assign --more` assigns them"]
