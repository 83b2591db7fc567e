"""Every kind of question in each real tool that carries it: out, answered over HTTP, back."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from steps import forms

from exchange import hundred_pairs as pairs
from exchange.servers_of_tools import SERVERS
from fcpair.params import Setup
from fcpair.records import Role
from fcpair.stages.questions import parse_form
from fcpair.study import Study

FORMS = {
    "types": "types: any_of(facts,humour,question)",
    "text": "text: text(min_words=1)",
    "form": f"text: text(min_words=1); types: any_of(facts,humour,question); {forms.RATE}",
}


@pytest.mark.parametrize(
    ("tool", "name"), [("label-studio", "form"), ("potato", "form"), ("doccano", "types"), ("doccano", "text")]
)
def test_answers_of_each_kind_stand(tmp_path: Path, tool: str, name: str) -> None:
    project, folder, people = tmp_path / "project", tmp_path / "exports", tmp_path / "project" / "people.csv"
    folder.mkdir()
    with closing(Study.create(tmp_path / "study.db", Setup())) as study:
        study.add_people(["ana"], Role.RATER)
        forms.add_grid(study, "kinds", ("facts", "humour", "=1+1"))
        forms.add_round(study, "kinds", name, "ana", FORMS[name], counts=True)
        grid = study.grid("kinds")
        grid.write_project(project, tool, name)
        (path,) = SERVERS[tool](project, folder, parse_form(FORMS[name]), ["ana"])
        assert grid.import_export(path, tool, name, people=people).counts["answers"] == 9
        work = {("ana", cell) for cell in range(1, 10)}
        pairs.assert_all_stand(study, tool, work, has_skips=False, grid="kinds", of=name)
        assert grid.import_export(path, tool, name, people=people).counts["already_there"] == 9
