"""Scripts are joined with what they import, in order, each module once and with names of its own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.web.server.static_files import FOLDER, join_script

NODE = shutil.which("node")
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write modules by their names; returns the path of the first."""

    def write_modules(**modules: str) -> Path:
        for name, text in modules.items():
            (tmp_path / f"{name}.js").write_text(text)
        return tmp_path / f"{next(iter(modules))}.js"

    return write_modules


def run(path: Path) -> str:
    script = path.with_suffix(".mjs")
    script.write_text(join_script(path))
    return subprocess.run([str(NODE), str(script)], capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_a_joined_script_does_what_its_modules_do(write: Write) -> None:
    path = write(
        main='import { A, twice } from "./a-b.js";\nimport "./log.js";\nimport { put } from "./c.js";\n'
        "const hidden = 4;\nput(new A(twice(hidden)).n, globalThis.logged);\n",
        **{"a-b": 'import { put } from "./c.js";\nconst hidden = 1;\nexport class A {\n  constructor(n) {\n'
        "    put(hidden);\n    this.n = n;\n  }\n}\nexport const twice = (n) => 2 * n;\n"},
        c='import "./log.js";\nlet n = 0;\nexport function put(...all) {\n  n += 1;\n  console.log(n, ...all);\n}\n',
        log="globalThis.logged = (globalThis.logged ?? 0) + 1;\n",
    )  # fmt: skip
    assert run(path) == "1 1\n2 8 1\n"


def test_a_script_keeps_what_it_exports_itself(write: Write) -> None:
    path = write(main='import { a } from "./a.js";\nexport const b = a + 1;\n', a="export const a = 1;\n")
    assert join_script(path).endswith("const { a } = $a;\nexport const b = a + 1;\n")


def test_lines_that_only_comment_are_left_out(write: Write) -> None:
    path = write(
        main='// About it.\nimport "./a.js";\nconst at = "//a"; // there\n', a="  // Nothing yet.\nlet b = 1;\n"
    )
    joined = join_script(path)
    assert "About" not in joined
    assert "Nothing" not in joined
    assert "let b = 1;\n" in joined
    assert joined.endswith('const at = "//a"; // there\n')


@pytest.mark.parametrize(
    "line",
    ["export let n = 1;", "export { n };", "export default n;", 'import all from "./a.js";', 'await import("./a.js");'],
)
def test_a_line_that_would_mean_something_else_is_refused(write: Write, line: str) -> None:
    with pytest.raises(ValueError, match="cannot be joined"):
        join_script(write(main='import "./other.js";\n', other=f"{line}\n", a=""))


def test_modules_that_import_each_other_are_refused(write: Write) -> None:
    with pytest.raises(ValueError, match=r"import each other: a\.js, b\.js, a\.js"):
        join_script(write(a='import "./b.js";\n', b='import "./a.js";\n'))


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_all_our_scripts_can_be_joined_and_are_sound(tmp_path: Path) -> None:
    for path in FOLDER.glob("*.js"):
        script = tmp_path / f"{path.stem}.mjs"
        script.write_text(join_script(path))
        subprocess.run([str(NODE), "--check", str(script)], check=True)
