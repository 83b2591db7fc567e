"""The JSON API does what its OpenAPI description says, for whatever is sent to it, and as docs/openapi.json says."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance
from steps.online import admit

from docs.openapi import described, difference, kept
from fcpair.records import Role
from fcpair.study import Study
from web.served import Served

WHO = {"ana": "dealt", "vera": "checking", "judy": "labelled", "lea": "labelled"}
ROLES = {"judy": Role.ADJUDICATOR, "lea": Role.LEAD}
EXAMPLES = 25


@pytest.fixture(
    scope="module",
    params=["ana", pytest.param("lea", marks=pytest.mark.slow)]
    + [pytest.param(name, marks=pytest.mark.long) for name in ("vera", "judy")],
)
def caller(request: pytest.FixtureRequest, files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server, and the token of somebody in one of the roles."""
    name = request.param
    path = Path(shutil.copy(files[WHO[name]], tmp_path_factory.mktemp(name) / "study.db"))
    study = Study(path)
    if name in ROLES:
        study.add_people([name], ROLES[name])
    admit(study, name)
    token = study.access.invite(name)
    study.close()
    served = Served(path)
    yield served, token
    assert served.end() == 0
    assert "Traceback" not in served.output.read_text()


@pytest.mark.slow
def test_no_request_is_answered_otherwise_than_described(caller: tuple[Served, str]) -> None:
    served, token = caller
    operations = operations_of(served)
    assert len(operations) >= 6
    for operation in operations:
        _try(operation, {"Authorization": f"Bearer {token}"})


def operations_of(served: Served) -> list[Any]:
    schema: Any = schemathesis.openapi.from_url(f"{served.url}/api/openapi.json")
    return [result.ok() for result in schema.get_all_operations()]


def _try(operation: Any, headers: dict[str, str]) -> None:
    @given(case=operation.as_strategy())
    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
        database=None,
        derandomize=True,
    )
    def holds(case: Any) -> None:
        # Wrong tokens are limited, and so answered 429 here in the end; test_auth.py tries them. And what has the
        # declared shape need not be possible: no such answer, a question that the study does not ask.
        case.call_and_validate(headers=headers, excluded_checks=[ignored_auth, positive_data_acceptance])

    holds()


def test_a_request_without_a_token_is_refused_everywhere(caller: tuple[Served, str]) -> None:
    served, _ = caller
    for operation in operations_of(served):
        path, method = operation.path.replace("{cell_id}", "1"), operation.method.upper()
        status, _ = served.ask(path, body=None if method == "GET" else {}, method=method)
        assert status == 401, operation.label


def test_the_file_describes_the_api_of_the_code() -> None:
    lines = difference(kept(), described())
    assert lines == [], "run `python docs/openapi.py` if the API is to change:\n" + "\n".join(lines[:40])


def test_what_differs_is_named_with_its_place_but_a_release_alone_makes_no_difference() -> None:
    other = copy.deepcopy(kept())
    other["info"]["version"] = "99.0"
    assert not difference(kept(), other)
    other["paths"]["/api/me"]["get"]["summary"] = "Somebody else."
    lines = difference(kept(), other)
    assert '+        "summary": "Somebody else."' in lines
    assert len(lines) < 12
