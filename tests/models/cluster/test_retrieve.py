"""The command on a cluster: the study is the one that a single machine makes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLES

from fcpair.errors import InputError
from fcpair.models.model_files import Model
from fcpair.params import Import, Retrieve, Select
from fcpair.store.corpus import sides
from fcpair.study import Study

pytestmark = pytest.mark.torch


def retrieved(path: Path, options: Retrieve) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The neighbours of a study of the example corpus, and what its run counted and was asked for."""
    study = Study.create(path)
    study.import_corpus(Import(EXAMPLES / "corpus.csv", only_language="en"))
    study.grid().select(Select(hs=4, seed=13))
    run = study.grid().retrieve(options)
    with study._store.read() as tx:
        found = [sides.neighbours_of(tx, cn) for cn in sides.text_ids(tx, "column")]
    study.close()
    return [frame.to_dict("records") for frame in found], run.counts, run.params


def test_what_a_cluster_retrieves_is_what_one_machine_retrieves(cache: Path, tiny: Model, tmp_path: Path) -> None:
    """The vectors are encoded by the workers, and the machine alone takes them over."""
    options = Retrieve(3, tiny.name, "onnx", dask="local:1")
    found, counts, params = retrieved(tmp_path / "cluster.db", options)
    assert any(found)
    assert (found, counts) == retrieved(tmp_path / "alone.db", replace(options, dask=None))[:2]
    assert (params["backend"], params["dask"]) == ("onnx", "local:1")


def test_what_is_no_cluster_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="dask is `four`"):
        retrieved(tmp_path / "study.db", Retrieve(dask="four"))
