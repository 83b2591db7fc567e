"""Each real tool: 100 pairs by three people, and every kind of question that it carries; out, answered, and back."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from steps import forms
from steps.small import open_work

from exchange import hundred_pairs as pairs
from exchange.servers_of_tools import SERVERS, WITH_SKIPS
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


@pytest.mark.parametrize("tool", SERVERS)
def test_all_300_stand(tmp_path: Path, tool: str) -> None:
    study, project, folder = pairs.build(tmp_path), tmp_path / "project", tmp_path / "exports"
    grid, work = study.grid(), set(open_work(study))
    assert len(work) == 300
    grid.write_project(project, tool)
    folder.mkdir()
    paths, people = SERVERS[tool](project, folder, pairs.LABEL, pairs.PEOPLE), project / "people.csv"
    runs = [grid.import_export(path, tool, people=people) for path in paths]
    assert sum(run.counts["answers"] + run.counts["skips"] for run in runs) == 300
    pairs.assert_all_stand(study, tool, work, has_skips=tool in WITH_SKIPS)
    again = [grid.import_export(path, tool, people=people) for path in paths]
    assert sum(run.counts["answers"] + run.counts["skips"] for run in again) == 0
    assert sum(run.counts["already_there"] for run in again) == 300
