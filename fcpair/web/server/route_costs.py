"""Cost of each address: the one place that says which requests are quick, and which have to be admitted."""

from __future__ import annotations

from enum import Enum

from fcpair.records import Role


class Kind(Enum):
    """Work that a request does, and so how many of its kind are let in at once; see `fcpair.web.server.admission`."""

    QUICK = "reads a few rows"
    ANSWER = "an answer; the intake sees to it"
    ACT = "writes, and waits for others who do"
    LIST = "reads what many pairs make together: the adjudicators' conflicts"
    LOOK = "reads the whole study: what the lead sees, and files"

    @property
    def role(self) -> Role | None:
        """Whose requests alone are of this kind, as others get little or a refusal; None: everybody's."""
        return {Kind.LIST: Role.ADJUDICATOR, Kind.LOOK: Role.LEAD}.get(self)


GET, POST, PUT = "GET", "POST", "PUT"
KINDS = {
    # An address stands for all below it that are not here themselves.
    (GET, "/"): Kind.QUICK,
    (GET, "/join"): Kind.QUICK,
    (POST, "/join"): Kind.QUICK,
    (POST, "/leave"): Kind.ACT,
    (GET, "/guidelines"): Kind.QUICK,
    (GET, "/welcome"): Kind.QUICK,
    (POST, "/welcome"): Kind.ACT,
    (GET, "/settings"): Kind.QUICK,
    (POST, "/settings"): Kind.ACT,
    (POST, "/language"): Kind.ACT,
    (GET, "/annotate"): Kind.QUICK,
    (GET, "/validate"): Kind.QUICK,
    (GET, "/practice"): Kind.QUICK,
    (GET, "/qualification"): Kind.QUICK,
    (GET, "/discussion"): Kind.QUICK,
    (GET, "/thanks"): Kind.LIST,
    (GET, "/worker.js"): Kind.QUICK,
    (GET, "/manifest.webmanifest"): Kind.QUICK,
    (GET, "/offline"): Kind.QUICK,
    (GET, "/adjudicate"): Kind.LIST,
    (POST, "/adjudicate"): Kind.ACT,
    (GET, "/lead"): Kind.LOOK,
    (POST, "/lead"): Kind.ACT,
    (POST, "/lead/conflicts/diamond"): Kind.LOOK,
    (POST, "/lead/people/overlap"): Kind.LOOK,
    (POST, "/lead/start/keep"): Kind.LOOK,
    (POST, "/lead/start/columns"): Kind.LOOK,
    (POST, "/lead/start/plan"): Kind.LOOK,
    (POST, "/lead/start/people"): Kind.LOOK,
    (POST, "/lead/start/figures"): Kind.LOOK,
    (POST, "/lead/start/statements"): Kind.LOOK,
    (POST, "/lead/start/survey"): Kind.LOOK,
    (POST, "/lead/start/survey-figures"): Kind.LOOK,
    (GET, "/lead/start/table"): Kind.QUICK,
    (GET, "/lead/start/progress"): Kind.QUICK,
    (GET, "/lead/start/begin"): Kind.QUICK,
    (GET, "/lead/start/links"): Kind.QUICK,
    (POST, "/lead/download"): Kind.LOOK,
    (POST, "/lead/grid/act"): Kind.LOOK,
    (GET, "/lead/acts"): Kind.QUICK,
    (GET, "/lead/examples"): Kind.LOOK,
    (POST, "/lead/examples"): Kind.ACT,
    (GET, "/api/openapi.json"): Kind.QUICK,
    (GET, "/api/me"): Kind.QUICK,
    (POST, "/api/consent"): Kind.ACT,
    (PUT, "/api/settings"): Kind.ACT,
    (GET, "/api/next"): Kind.QUICK,
    (POST, "/api/judgements"): Kind.ANSWER,
    (POST, "/api/check"): Kind.ACT,
    (GET, "/api/answers"): Kind.QUICK,
    (POST, "/api/renumber"): Kind.QUICK,
    (GET, "/api/progress"): Kind.QUICK,
    (GET, "/api/conflicts"): Kind.LIST,
    (POST, "/api/decisions"): Kind.ACT,
    (GET, "/api/decided"): Kind.LIST,
}


def kind_of(method: str, path: str) -> Kind | None:
    """The kind of a request; None where nothing is said of its address, so there is nothing there."""
    above = path
    while above:
        if kind := KINDS.get((method, above)):
            return kind
        above = above.rpartition("/")[0]
    return None
