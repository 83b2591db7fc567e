"""The terms on which a study is served: what `fcpair serve` was given, and for all else what the study says now."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from fcpair.params import Annotate
from fcpair.study import Study


@dataclass(frozen=True)
class ServedTerms:
    """Terms of a study; what is `given`, by the names of Annotate, holds whatever the study says."""

    study: Study
    given: Mapping[str, Any]

    @classmethod
    def of(cls, study: Study, annotate: Annotate, given: Collection[str] | None) -> ServedTerms:
        """Terms of which those are `given` that are so named; None for those that differ from the study's own."""
        if given is None:
            own = study.effective_options(Annotate)
            names = (item.name for item in fields(Annotate))
            given = [name for name in names if getattr(annotate, name) != getattr(own, name)]
        return cls(study, {name: getattr(annotate, name) for name in given})

    @property
    def own(self) -> Annotate:
        """The study's own terms."""
        return self.study.effective_options(Annotate)

    def now(self) -> Annotate:
        """The terms as they are now, with fcpair's own words where the study has none."""
        return self.study.effective_options(Annotate, **self.given).worded(self.study.facts["hs_name"])
