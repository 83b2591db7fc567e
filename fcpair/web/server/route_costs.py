"""Cost of each address: the one place that says which requests have to be admitted, and which are for a process apart.

What is not named here reads a few rows if it is fetched, and waits for others who write if it is sent.
"""

from __future__ import annotations

from enum import Enum

from fcpair.records import Role


class Kind(Enum):
    """Work that a request does, and so how many of its kind are let in at once; see `fcpair.web.server.admission`."""

    ACT = "writes, and waits for others who do"
    LIST = "reads what many pairs make together: the adjudicators' conflicts"
    LOOK = "reads the whole study: what the lead sees, and files"

    @property
    def role(self) -> Role | None:
        """Whose requests alone are of this kind, as others get little or a refusal; None: everybody's."""
        return {Kind.LIST: Role.ADJUDICATOR, Kind.LOOK: Role.LEAD}.get(self)


# An address stands for all below it that are not here themselves.
_LISTS = ("/thanks", "/adjudicate", "/api/conflicts", "/api/decided")
_QUICK_LOOKS = ("/lead/start/table", "/lead/start/progress", "/lead/start/begin", "/lead/start/links", "/lead/acts")
_STEPS_THAT_READ = ("keep", "columns", "plan", "people", "figures", "statements", "survey", "survey-figures")
_SENT_LOOKS = (
    "/lead/conflicts/diamond",
    "/lead/people/overlap",
    "/lead/download",
    "/lead/grid/act",
    *(f"/lead/start/{step}" for step in _STEPS_THAT_READ),
)
_SENT_QUICK = ("/join", "/api/judgements", "/api/renumber")  # answers are for the intake
KINDS: dict[tuple[str, str], Kind | None] = {
    **{("GET", path): Kind.LIST for path in _LISTS},
    ("GET", "/lead"): Kind.LOOK,
    **{("GET", path): None for path in _QUICK_LOOKS},
    **{("POST", path): Kind.LOOK for path in _SENT_LOOKS},
    **{("POST", path): None for path in _SENT_QUICK},
}


def kind_of(method: str, path: str) -> Kind | None:
    """The kind of a request; None where it is quick."""
    above = path
    while above:
        if (method, above) in KINDS:
            return KINDS[method, above]
        above = above.rpartition("/")[0]
    return Kind.ACT if method in {"POST", "PUT"} else None
