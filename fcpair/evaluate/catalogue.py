"""Every system by its word, and reading a system's name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import ClassVar

from fcpair.errors import InputError
from fcpair.evaluate.measures import parse_measure
from fcpair.evaluate.systems import System
from fcpair.params import Evaluate, check_unique
from fcpair.stages.questions.named_values import parse_named
from fcpair.stages.stats.intervals import check_resamples

SHOWN = 60  # characters of a name that is far too long


class _Systems(Mapping[str, type[System]]):
    """The systems by their words. Each is loaded when it is named, as some come with the client of a model."""

    _modules: ClassVar = {
        **dict.fromkeys(("random", "tfidf", "bm25", "sbert", "run"), "systems"),
        **dict.fromkeys(("cross", "embed", "llm", "rerank"), "services"),
    }

    def __getitem__(self, word: str) -> type[System]:
        system: type[System] = getattr(import_module(f"fcpair.evaluate.{self._modules[word]}"), word.capitalize())
        return system

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


SYSTEMS = _Systems()


def parse_system(text: str) -> System:
    """Read a system's name, such as `bm25(k1=1.2)` or `sbert:all-MiniLM-L6-v2`; InputError for what cannot be read."""
    if text.lower().endswith((".trec", ".run", ".txt")) and ":" not in text:
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
    check_unique("measure", [str(parse_measure(measure, options.cutoff)) for measure in options.measures])


def check_cutoff(options: Evaluate) -> None:
    """Raise InputError where no measure reads the number of ranks that is given."""
    if all(parse_measure(measure, 1) == parse_measure(measure, 2) for measure in options.measures):
        raise InputError("`cutoff` (--cutoff) has no effect, as every measure has a cutoff of its own; omit it")
