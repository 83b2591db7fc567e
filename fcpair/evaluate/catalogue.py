"""Every system by its word, and reading a system's name."""

from __future__ import annotations

from fcpair.errors import InputError
from fcpair.evaluate.embed import Embed
from fcpair.evaluate.llm import Llm
from fcpair.evaluate.measures import parse_measure
from fcpair.evaluate.ranking import System
from fcpair.evaluate.rerank import Cross, Rerank
from fcpair.evaluate.systems import Bm25, Random, Sbert, Tfidf
from fcpair.evaluate.trec_run import Run
from fcpair.params import Evaluate, check_unique
from fcpair.stages.questions.named_values import parse_named
from fcpair.stages.stats.intervals import check_resamples

RUN_SUFFIXES = (".trec", ".run", ".txt")
SHOWN = 60  # characters of a name that is far too long
SYSTEMS: dict[str, type[System]] = {
    system.word: system for system in (Random, Tfidf, Bm25, Sbert, Cross, Embed, Llm, Rerank, Run)
}


def parse_system(text: str) -> System:
    """Read a system's name, such as `bm25(k1=1.2)` or `sbert:all-MiniLM-L6-v2`.

    Raises:
        InputError: there is no such system or option, a value is of the wrong kind, or systems stand in one another by
            the hundred.
    """
    if text.lower().endswith(RUN_SUFFIXES) and ":" not in text:
        raise InputError(f"system `{text}` is the name of a file; expected `run:{text}` for a TREC run")
    try:
        system: System = parse_named(text, SYSTEMS, "system")
        str(system)  # as deep as its reading, and needed by all who have it
    except RecursionError:
        raise InputError(f"system `{text[:SHOWN]}...`: too many nested systems") from None
    return system


def check_evaluation(options: Evaluate) -> None:
    """Raise InputError for a system, a measure or a number of resamples that cannot be, or for a name given twice."""
    check_resamples(options.resamples)
    check_unique("system", [str(parse_system(system)) for system in options.systems])
    check_unique("measure", [str(parse_measure(measure, options.k)) for measure in options.measures])


def check_cutoff(options: Evaluate) -> None:
    """Raise InputError where no measure reads the number of ranks that is given."""
    if all(parse_measure(measure, 1) == parse_measure(measure, 2) for measure in options.measures):
        raise InputError("`k` (--cutoff) has no effect, as every measure has a cutoff of its own; omit it")
