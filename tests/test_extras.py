"""What needs an extra that is not installed says which, wherever it is asked for."""

from __future__ import annotations

import configparser
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from fcpair import errors
from fcpair.cli import main
from fcpair.errors import FcpairError, MissingExtraError
from fcpair.models import grammar, language

PACKAGE = Path(errors.__file__).parent


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Hide modules as if their distributions were not installed."""

    def hide(*names: str) -> None:
        for name in names:
            monkeypatch.setitem(sys.modules, name, None)

    return hide


def test_all_that_is_missing_is_named_with_the_extra_and_nothing_that_is_installed() -> None:
    errors.require("texts", "this", "json", "re")
    with pytest.raises(MissingExtraError) as caught:
        errors.require("texts", "this", "json", "not_there", "nor_there")
    assert str(caught.value) == "this needs not_there, nor_there; install with `pip install 'fcpair[texts]'`"
    assert isinstance(caught.value, FcpairError)
    assert isinstance(caught.value, ImportError)


def test_every_extra_that_code_names_is_one_that_can_be_installed() -> None:
    config = configparser.ConfigParser()
    config.read(PACKAGE.parent / "setup.cfg", encoding="utf-8")
    source = "\n".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    named = set(re.findall(r'(?:require|missing_extra)\(\s*"(\w+)"', source)) | set(
        re.findall(r"fcpair\[(\w+)\]", source)
    )
    assert named >= {"texts", "web", "postgres", "onnx", "cluster", "mixed", "offline"}
    assert named - {"extra"} <= set(config["options.extras_require"])


@pytest.mark.parametrize(
    ("measure", "module"),
    [
        ("bleu", "sacrebleu"),
        ("chrf", "sacrebleu"),
        ("gleu", "nltk"),
        ("meteor(wordnet=none)", "nltk"),
        ("rouge-l", "rouge_score"),
        ("fk", "pyphen"),
    ],
)
def test_a_measure_without_its_library_is_an_error_that_names_the_extra(
    tmp_path: Path, without: Callable[..., None], measure: str, module: str
) -> None:
    table = tmp_path / "texts.csv"
    table.write_text("text,ref\na quiet word,a quiet word indeed\nanother one here,one more here\n", "utf-8")
    without(module)
    command = ["measure", str(table), "--text", "text", "--language", "en", "--measure", measure]
    result = CliRunner().invoke(main, [*command, *(["--reference", "ref"] if measure != "fk" else [])])
    assert result.exit_code == 2
    said = f"the measure `{measure.partition('(')[0]}` needs {module}; install with `pip install 'fcpair[texts]'`"
    assert said in " ".join(result.output.split())


def test_checks_of_texts_say_what_they_need(without: Callable[..., None]) -> None:
    without("harper", "py3langid")
    grammar._linter.cache_clear()
    language._identifier.cache_clear()
    with pytest.raises(MissingExtraError, match=r"^the grammar checker `harper` needs harper; .*fcpair\[texts\]"):
        grammar.find_faults("A text.", grammar.HARPER, "en")
    with pytest.raises(MissingExtraError, match="harper"):
        grammar.check_installed(grammar.HARPER)
    grammar.check_installed("http://127.0.0.1:8081")
    with pytest.raises(MissingExtraError, match=r"needs py3langid; .*fcpair\[texts\]"):
        language.check_language("en")
