"""Static files: joined, compressed for whoever takes that, of the right type, and fetched anew only if they changed."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from httpx2 import Response

from fcpair.web.context import HERE
from fcpair.web.server.static_files import FOLDER, _modules_of, join_script, static_files
from web.conftest import LookAt, Site

NAMES = sorted(static_files().versions)
TYPES = {
    "desk.js": "text/javascript; charset=utf-8",
    "fcpair.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "icon-192.png": "image/png",
    "vendor/pico.LICENSE.txt": "text/plain; charset=utf-8",
}
NODE = shutil.which("node")
Write = Callable[..., Path]


@pytest.fixture
def site(look_at: LookAt) -> Site:
    """No file rests on a study."""
    return look_at("dealt")


def fetch(site: Site, path: str, encoding: str, **headers: str) -> Response:
    return site.stranger().get(path, headers={"accept-encoding": encoding, **headers})


def test_a_file_is_the_same_compressed_or_not_and_has_its_type(site: Site) -> None:
    for name in NAMES:
        plain, packed = fetch(site, f"/static/{name}", "identity"), fetch(site, f"/static/{name}", "gzip")
        assert plain.content == packed.content == static_files()[name].content, name
        assert "content-encoding" not in plain.headers
        assert packed.headers.get("content-encoding") == (None if name.endswith(".png") else "gzip")
        assert plain.headers["vary"] == packed.headers["vary"] == "accept-encoding"
        assert packed.headers["content-type"] == TYPES.get(name, packed.headers["content-type"])
    assert {*TYPES} <= {*NAMES}


def test_compressed_files_are_at_most_two_fifths_of_what_they_were() -> None:
    packed = {name: static_files()[name].compressed for name in NAMES}
    sizes = [(len(file), len(static_files()[name].content)) for name, file in packed.items() if file is not None]
    assert sum(size for size, _ in sizes) <= 0.4 * sum(before for _, before in sizes)
    assert all(gzip.decompress(file) == static_files()[name].content for name, file in packed.items() if file)


def test_only_whoever_takes_gzip_gets_it_and_nobody_a_page(site: Site) -> None:
    for encoding in ("", "identity", "br", "gzip;q=0", "gzip; q=0.0", "gzip;q=0.000", "xgzip"):
        assert "content-encoding" not in fetch(site, "/static/desk.js", encoding).headers, encoding
    for encoding in ("gzip", "br, gzip", "GZIP", "gzip;q=0.5", "deflate,gzip ; q=1"):
        assert fetch(site, "/static/desk.js", encoding).headers["content-encoding"] == "gzip", encoding
    ana = site.browser("ana")  # pages hold the guard of their forms beside what somebody sent
    for path in ("/join", "/annotate", "/settings", "/guidelines"):
        page = ana.get(path, headers={"accept-encoding": "gzip"})
        assert (page.status_code, "content-encoding" in page.headers) == (200, False)


def test_a_file_that_somebody_has_is_not_sent_again(site: Site) -> None:
    for path in ("/static/keys.js", "/worker.js"):
        for encoding, other in (("gzip", "identity"), ("identity", "gzip")):
            etag = fetch(site, path, encoding).headers["etag"]
            again = fetch(site, path, encoding, **{"if-none-match": f'"another", {etag}'})
            assert (again.status_code, again.content) == (304, b"")
            assert fetch(site, path, other, **{"if-none-match": etag}).status_code == 200


def test_there_is_nothing_but_the_files_and_they_can_only_be_read(site: Site) -> None:
    for path in ("nothing.js", "", "vendor", "../app.py", "%2e%2e/app.py", "..%2fapp.py", "vendor/../desk.js?v=1"):
        assert fetch(site, f"/static/{path}", "gzip").status_code == (200 if path.endswith("?v=1") else 404)
    assert site.stranger().head("/static/keys.js").status_code == 200
    refused = site.stranger().post("/static/keys.js")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")


def test_scripts_of_one_page_have_no_module_in_common() -> None:
    """Each would have it for itself, with a state of its own."""
    base = re.findall(r"static\('([\w-]+\.js)'\)", (HERE / "templates" / "base.html.j2").read_text("utf-8"))
    for template in (HERE / "templates").glob("*.j2"):
        names = re.findall(r"static\('([\w-]+\.js)'\)", template.read_text("utf-8"))
        scripts = [set(_modules_of(FOLDER / name, ())) for name in dict.fromkeys([*base, *names])]
        assert not [one & other for one, other in combinations(scripts, 2) if one & other], template.name


# Scripts are joined with what they import, in order, each module once and with names of its own


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write modules by their names; returns the path of the first."""

    def write_modules(**modules: str) -> Path:
        for name, text in modules.items():
            (tmp_path / f"{name}.js").write_text(text)
        return tmp_path / f"{next(iter(modules))}.js"

    return write_modules


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_a_joined_script_does_what_its_modules_do_and_all_of_ours_are_sound(write: Write, tmp_path: Path) -> None:
    path = write(
        main='import { A, twice } from "./a-b.js";\nimport "./log.js";\nimport { put } from "./c.js";\n'
        "const hidden = 4;\nput(new A(twice(hidden)).n, globalThis.logged);\n",
        **{"a-b": 'import { put } from "./c.js";\nconst hidden = 1;\nexport class A {\n  constructor(n) {\n'
        "    put(hidden);\n    this.n = n;\n  }\n}\nexport const twice = (n) => 2 * n;\n"},
        c='import "./log.js";\nlet n = 0;\nexport function put(...all) {\n  n += 1;\n  console.log(n, ...all);\n}\n',
        log="globalThis.logged = (globalThis.logged ?? 0) + 1;\n",
    )  # fmt: skip
    script = path.with_suffix(".mjs")
    script.write_text(join_script(path))
    output = subprocess.run([str(NODE), str(script)], capture_output=True, text=True, check=True).stdout
    assert output == "1 1\n2 8 1\n"
    for path in FOLDER.glob("*.js"):
        script = tmp_path / f"{path.stem}.mjs"
        script.write_text(join_script(path))
        subprocess.run([str(NODE), "--check", str(script)], check=True)


def test_a_script_keeps_what_it_exports_and_leaves_out_lines_that_only_comment(write: Write) -> None:
    path = write(main='import { a } from "./a.js";\nexport const b = a + 1;\n', a="export const a = 1;\n")
    assert join_script(path).endswith("const { a } = $a;\nexport const b = a + 1;\n")
    main = '// About it.\nimport "./a.js";\nconst at = "//a"; // there\n'
    joined = join_script(write(main=main, a="  // Nothing yet.\nlet b = 1;\n"))
    assert "About" not in joined
    assert "Nothing" not in joined
    assert "let b = 1;\n" in joined
    assert joined.endswith('const at = "//a"; // there\n')


def test_a_style_sheet_leaves_out_lines_that_only_comment() -> None:
    sheet = (FOLDER / "fcpair.css").read_text("utf-8")
    sent = static_files()["fcpair.css"].content.decode()
    assert [line for line in sent.splitlines() if line.startswith("/*")] == []
    assert sent.count("{") == sheet.count("{")
    assert len(sent) < 0.95 * len(sheet)


def test_a_line_that_would_mean_something_else_and_modules_that_import_each_other_are_refused(write: Write) -> None:
    for line in (
        *("export let n = 1;", "export { n };", "export default n;"),
        *('import all from "./a.js";', 'await import("./a.js");'),
    ):
        with pytest.raises(ValueError, match="cannot be joined"):
            join_script(write(main='import "./other.js";\n', other=f"{line}\n", a=""))
    with pytest.raises(ValueError, match=r"import each other: a\.js, b\.js, a\.js"):
        join_script(write(a='import "./b.js";\n', b='import "./a.js";\n'))
