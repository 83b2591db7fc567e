"""The documents of a release: its card, datasheet, data statement, and how it is cited and deposited."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from fcpair.files.release.croissant import synthetic_note
from fcpair.files.release.hf import CARD, WARNING
from fcpair.files.release.redaction import Escaped, as_json, code_span, escape_html, escape_line, escape_markdown
from fcpair.files.release.release_facts import ReleaseFacts

if TYPE_CHECKING:
    from jinja2 import Environment

CITATION, ZENODO = "CITATION.cff", ".zenodo.json"
TEMPLATES = {
    CARD: "card.md.j2",
    "datasheet.md": "datasheet.md.j2",
    "data-statement.md": "data-statement.md.j2",
    CITATION: "citation.cff.j2",
}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_HUGE = "1M<n<10M"
_HUB_NAMES = {"odbl-1.0": "odbl", "odc-by-1.0": "odc-by", "pddl-1.0": "pddl"}  # of data licences, where SPDX's differ
# The codes of ISO 639-3 by those of ISO 639-1, with which BCP 47 tags begin.
_ISO_639_3 = """
aa:aar ab:abk ae:ave af:afr ak:aka am:amh an:arg ar:ara as:asm av:ava ay:aym az:aze ba:bak be:bel bg:bul bi:bis
bm:bam bn:ben bo:bod br:bre bs:bos ca:cat ce:che ch:cha co:cos cr:cre cs:ces cu:chu cv:chv cy:cym da:dan de:deu
dv:div dz:dzo ee:ewe el:ell en:eng eo:epo es:spa et:est eu:eus fa:fas ff:ful fi:fin fj:fij fo:fao fr:fra fy:fry
ga:gle gd:gla gl:glg gn:grn gu:guj gv:glv ha:hau he:heb hi:hin ho:hmo hr:hrv ht:hat hu:hun hy:hye hz:her ia:ina
id:ind ie:ile ig:ibo ii:iii ik:ipk io:ido is:isl it:ita iu:iku ja:jpn jv:jav ka:kat kg:kon ki:kik kj:kua kk:kaz
kl:kal km:khm kn:kan ko:kor kr:kau ks:kas ku:kur kv:kom kw:cor ky:kir la:lat lb:ltz lg:lug li:lim ln:lin lo:lao
lt:lit lu:lub lv:lav mg:mlg mh:mah mi:mri mk:mkd ml:mal mn:mon mr:mar ms:msa mt:mlt my:mya na:nau nb:nob nd:nde
ne:nep ng:ndo nl:nld nn:nno no:nor nr:nbl nv:nav ny:nya oc:oci oj:oji om:orm or:ori os:oss pa:pan pi:pli pl:pol
ps:pus pt:por qu:que rm:roh rn:run ro:ron ru:rus rw:kin sa:san sc:srd sd:snd se:sme sg:sag sh:hbs si:sin sk:slk
sl:slv sm:smo sn:sna so:som sq:sqi sr:srp ss:ssw st:sot su:sun sv:swe sw:swa ta:tam te:tel tg:tgk th:tha ti:tir
tk:tuk tl:tgl tn:tsn to:ton tr:tur ts:tso tt:tat tw:twi ty:tah ug:uig uk:ukr ur:urd uz:uzb ve:ven vi:vie vo:vol
wa:wln wo:wol xh:xho yi:yid yo:yor za:zha zh:zho zu:zul
"""


def document_texts(facts: ReleaseFacts) -> dict[str, str]:
    """The content of each document, by its name. The same facts give the same bytes.

    In Markdown every value is escaped, unless a filter did it: `line` where it must be one, `code` as a span of code,
    `own` where it is our own Markdown around names.
    """
    environment = _environment()

    def stated(path: str) -> str:
        """What the form has under a key; of one that is empty that it is."""
        answer = facts.form[path]
        return (answer if isinstance(answer, str) else ", ".join(answer)) or Escaped(f"*not stated (`{path}`)*")

    context = {
        "facts": facts,
        "form": facts.form,
        "stated": stated,
        "synthetic": synthetic_note(facts),
        "warning": Escaped("\n".join(WARNING)) if facts.about_hate else "",
        "licence": Escaped(_card_licence(facts)),
        "cff_licence": facts.licence if _is_spdx(facts.licence) else "",
        "licence_name": ", ".join(
            f"{facts.form[f'licence.{of}'] or 'not stated'} ({of})" for of in ("labels", "texts")
        ),
        "column_tables": _column_tables(facts),
        "size": Escaped(_size(len(facts.default_table.rows))),
    }
    texts = {name: environment.get_template(template).render(context) for name, template in TEMPLATES.items()}
    return {**texts, ZENODO: as_json(_zenodo(facts), indent=2) + "\n"}


def _column_tables(facts: ReleaseFacts) -> list[tuple[list[str], list[tuple[list[str], str]]]]:
    """For tables with the same columns their names, and the columns, those of one meaning together."""
    by_columns: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for table in facts.tables:
        described = tuple((str(name), table.columns.get(str(name), "metadata")) for name in table.rows.columns)
        by_columns.setdefault(described, []).append(table.name)
    return [(names, _join_columns(described)) for described, names in by_columns.items()]


def _join_columns(described: Iterable[tuple[str, str]]) -> list[tuple[list[str], str]]:
    names_by_meaning: dict[str, list[str]] = {}
    for name, meaning in described:
        names_by_meaning.setdefault(meaning, []).append(name)
    return [(names, meaning) for meaning, names in names_by_meaning.items()]


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("fcpair.files.release"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=escape_markdown,
    )
    environment.filters["yaml"] = lambda value: Escaped(as_json(value))
    environment.filters["code"] = code_span
    environment.filters["line"] = escape_line
    environment.filters["own"] = lambda value: Escaped(" ".join(escape_html(value).replace("|", "\\|").split()))
    environment.filters["count"] = lambda number: f"{number:,}"
    return environment


def _card_licence(facts: ReleaseFacts) -> str:
    """The licence by the hub's names: one that holds for all, else `other`."""
    spdx = facts.licence.lower()
    return _HUB_NAMES.get(spdx, spdx) if _is_spdx(facts.licence) else "other"


def _is_spdx(licence: str) -> bool:
    return bool(licence) and not licence.startswith("LicenseRef-")


def _zenodo_licence(facts: ReleaseFacts) -> str:
    """The licence by Zenodo's names: one that holds for all, else the one that permits nothing; the notes have both."""
    if _is_spdx(facts.licence):
        return facts.licence.lower()
    return "other-closed" if facts.form["licence.labels"] or facts.form["licence.texts"] else ""


def _zenodo_notes(facts: ReleaseFacts) -> str:
    licences = (("Labels, answers and decisions", facts.form["licence.labels"]), ("Texts", facts.form["licence.texts"]))
    stated = () if _is_spdx(facts.licence) else (f"{what}: {licence}" for what, licence in licences if licence)
    return " ".join(f"{note}." for note in (synthetic_note(facts), *stated) if note)


def _size(n_rows: int) -> str:
    return next((name for below, name in _SIZES if n_rows < below), _HUGE)


def _zenodo(facts: ReleaseFacts) -> dict[str, Any]:
    form = facts.form
    metadata = {
        "upload_type": "dataset",
        "title": facts.title,
        "description": html.escape(form["description"] or facts.title, quote=False),  # Zenodo reads it as HTML
        "version": form["version"],
        "publication_date": form["date"],
        "creators": [_zenodo_creator(author) for author in form["authors"]],
        "license": _zenodo_licence(facts),
        "keywords": list(form["keywords"]),
        "language": _iso_639_3(form["languages"][0]) if form["languages"] else "",
        "doi": form["doi"],
        "notes": html.escape(_zenodo_notes(facts), quote=False),
    }
    return {key: value for key, value in metadata.items() if value}


def _iso_639_3(tag: str) -> str:
    """The three letters that Zenodo asks for, of a BCP 47 tag; empty where it has none."""
    code = tag.partition("-")[0].lower()
    return code if len(code) == 3 else dict(pair.split(":") for pair in _ISO_639_3.split()).get(code, "")


def _zenodo_creator(author: Mapping[str, str]) -> dict[str, str]:
    name = ", ".join(filter(None, (author.get("family"), author.get("given"))))
    return {"name": name, **{key: author[key] for key in ("affiliation", "orcid") if key in author}}
