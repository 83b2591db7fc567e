"""Static files: joined, compressed for whoever takes that, of the right type, and fetched anew only if they changed."""

from __future__ import annotations

import gzip
import re
from itertools import combinations

import pytest
from httpx2 import Response

from fcpair.web.context import HERE
from fcpair.web.server.static_files import FOLDER, _modules_of, static_files
from web.conftest import Site

NAMES = sorted(static_files().versions)
TYPES = {
    "desk.js": "text/javascript; charset=utf-8",
    "fcpair.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "icon-192.png": "image/png",
    "vendor/pico.LICENSE.txt": "text/plain; charset=utf-8",
}


def fetch(site: Site, path: str, encoding: str, **headers: str) -> Response:
    return site.stranger().get(path, headers={"accept-encoding": encoding, **headers})


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_the_same_compressed_or_not(site: Site, name: str) -> None:
    plain, packed = fetch(site, f"/static/{name}", "identity"), fetch(site, f"/static/{name}", "gzip")
    assert plain.content == packed.content == static_files()[name].content
    assert "content-encoding" not in plain.headers
    assert packed.headers.get("content-encoding") == (None if name.endswith(".png") else "gzip")
    assert plain.headers["vary"] == packed.headers["vary"] == "accept-encoding"


def test_compressed_files_are_at_most_two_fifths_of_what_they_were() -> None:
    packed = {name: static_files()[name].compressed for name in NAMES}
    sizes = [(len(one), len(static_files()[name].content)) for name, one in packed.items() if one is not None]
    assert sum(size for size, _ in sizes) <= 0.4 * sum(before for _, before in sizes)
    assert all(gzip.decompress(one) == static_files()[name].content for name, one in packed.items() if one)


@pytest.mark.parametrize("encoding", ["", "identity", "br", "gzip;q=0", "gzip; q=0.0", "gzip;q=0.000", "xgzip"])
def test_whoever_does_not_take_gzip_gets_the_file_as_it_is(site: Site, encoding: str) -> None:
    assert "content-encoding" not in fetch(site, "/static/desk.js", encoding).headers


@pytest.mark.parametrize("encoding", ["gzip", "br, gzip", "GZIP", "gzip;q=0.5", "deflate,gzip ; q=1"])
def test_whoever_takes_gzip_gets_it(site: Site, encoding: str) -> None:
    assert fetch(site, "/static/desk.js", encoding).headers["content-encoding"] == "gzip"


@pytest.mark.parametrize("name", TYPES)
def test_a_file_has_its_type(site: Site, name: str) -> None:
    assert fetch(site, f"/static/{name}", "gzip").headers["content-type"] == TYPES[name]


@pytest.mark.parametrize("path", ["/static/keys.js", "/worker.js"])
def test_a_file_that_somebody_has_is_not_sent_again(site: Site, path: str) -> None:
    for encoding, other in (("gzip", "identity"), ("identity", "gzip")):
        etag = fetch(site, path, encoding).headers["etag"]
        again = fetch(site, path, encoding, **{"if-none-match": f'"another", {etag}'})
        assert (again.status_code, again.content) == (304, b"")
        assert fetch(site, path, other, **{"if-none-match": etag}).status_code == 200


@pytest.mark.parametrize(
    "path", ["nothing.js", "", "vendor", "../app.py", "%2e%2e/app.py", "..%2fapp.py", "vendor/../desk.js?v=1"]
)
def test_there_is_nothing_but_the_files(site: Site, path: str) -> None:
    assert fetch(site, f"/static/{path}", "gzip").status_code == (200 if path.endswith("?v=1") else 404)


def test_a_file_can_only_be_read(site: Site) -> None:
    assert site.stranger().head("/static/keys.js").status_code == 200
    refused = site.stranger().post("/static/keys.js")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")


def test_pages_are_never_compressed(site: Site) -> None:
    """They hold the guard of their forms beside what somebody sent."""
    ana = site.browser("ana")
    for path in ("/join", "/annotate", "/settings", "/guidelines"):
        page = ana.get(path, headers={"accept-encoding": "gzip"})
        assert (page.status_code, "content-encoding" in page.headers) == (200, False)


def test_scripts_of_one_page_have_no_module_in_common() -> None:
    """Each would have it for itself, with a state of its own."""
    base = re.findall(r"static\('([\w-]+\.js)'\)", (HERE / "templates" / "base.html.j2").read_text("utf-8"))
    for template in (HERE / "templates").glob("*.j2"):
        names = re.findall(r"static\('([\w-]+\.js)'\)", template.read_text("utf-8"))
        scripts = [set(_modules_of(FOLDER / name, ())) for name in dict.fromkeys([*base, *names])]
        assert not [one & other for one, other in combinations(scripts, 2) if one & other], template.name
