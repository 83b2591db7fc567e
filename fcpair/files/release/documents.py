"""The documents of a release: Croissant 1.1, its card, datasheet, data statement, and how it is cited and deposited."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from fcpair.files.release.redaction import Escaped, as_json, render
from fcpair.files.release.release_facts import ReleaseFacts
from fcpair.files.release.tier import CARD, WARNING

CROISSANT = "croissant.json"
_OF_CROISSANT = """
arrayShape citeAs column containedIn equivalentProperty extract field fileObject fileProperty fileSet format
includes isArray isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace
samplingRate separator source subField transform
"""  # names of its own
_OTHERS: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "prov": "http://www.w3.org/ns/prov#",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}
CONTEXT = dict(sorted((_OTHERS | {name: f"cr:{name}" for name in _OF_CROISSANT.split()}).items()))
"""The context of the specification, version 1.1."""
_DATA_TYPES = {"i": "sc:Integer", "u": "sc:Integer", "b": "sc:Boolean", "f": "sc:Float"}  # by the kind of a column
_FROM_FORM = {
    "rai:dataLimitations": "rai.data_limitations",
    "rai:dataBiases": "rai.data_biases",
    "rai:personalSensitiveInformation": "rai.personal_sensitive_information",
    "rai:dataUseCases": "rai.data_use_cases",
    "rai:dataSocialImpact": "rai.data_social_impact",
}
_LICENSED = ("labels", "texts")
CITATION, ZENODO = "CITATION.cff", ".zenodo.json"
TEMPLATES = {
    CARD: "card.md.j2",
    "datasheet.md": "datasheet.md.j2",
    "data-statement.md": "data-statement.md.j2",
    CITATION: "citation.cff.j2",
}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_HUB_NAMES = {"odbl-1.0": "odbl", "odc-by-1.0": "odc-by", "pddl-1.0": "pddl"}  # of data licences, where SPDX's differ
# The codes of ISO 639-3, which Zenodo asks for, by those of ISO 639-1, with which BCP 47 tags begin.
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


def croissant_text(facts: ReleaseFacts, sha256_by_path: Mapping[str, str]) -> str:
    """The file; `sha256_by_path` has the digest of the Parquet file of each table."""
    form = facts.form
    licences = dict.fromkeys(filter(None, (form["licence.labels"], form["licence.texts"])))
    metadata: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": facts.name,
        "alternateName": facts.title,
        "description": form["description"] or facts.title,
        "license": [of if of.startswith("LicenseRef-") else f"https://spdx.org/licenses/{of}" for of in licences],
        "url": form["url"],
        "identifier": f"https://doi.org/{form['doi']}" if form["doi"] else "",
        "version": form["version"],
        "datePublished": form["date"],
        "inLanguage": list(form["languages"]),
        "keywords": list(form["keywords"]),
        "citeAs": form["cite"],
        "funding": form["funding"],
        "creator": [_person(author) for author in form["authors"]],
        "isLiveDataset": False,
        **_rai(facts),
        "distribution": [
            {
                "@type": "cr:FileObject",
                **dict.fromkeys(("@id", "name"), f"{table.path}.parquet"),
                "description": table.about,
                "contentUrl": f"{table.path}.parquet",
                "encodingFormat": "application/x-parquet",
                "sha256": sha256_by_path[f"{table.path}.parquet"],
            }
            for table in facts.tables
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": quote(table.name),
                "name": table.name,
                "description": f"{table.about} {table.rule}".strip(),
                "field": [
                    {
                        "@type": "cr:Field",
                        "@id": f"{quote(table.name)}/{quote(str(name), safe='')}",
                        "name": str(name),
                        "description": table.columns.get(str(name), str(name)),
                        "dataType": _DATA_TYPES.get(table.rows[name].dtype.kind, "sc:Text"),
                        "source": {"fileObject": {"@id": f"{table.path}.parquet"}, "extract": {"column": str(name)}},
                    }
                    for name in table.rows.columns
                ],
            }
            for table in facts.tables
        ],
    }
    stated = {key: value for key, value in metadata.items() if value not in ("", [])}
    return as_json(stated, indent=2) + "\n"


def synthetic_note(facts: ReleaseFacts) -> str:
    """Say how many answers are made up or by models; empty where none are."""
    kinds = {"simulated": "made up by simulated people", "generated": "given by language models"}
    counts, total = [(facts.origins.get(of, 0), kind) for of, kind in kinds.items()], sum(facts.origins.values())
    return " and ".join(f"{n:,} of {total:,} answers were {kind}" for n, kind in counts if n)


def _rai(facts: ReleaseFacts) -> dict[str, Any]:
    people = ", ".join(f"{n:,} {role}{'s' * (n != 1)}" for role, n in facts.people.items())
    texts = facts.form["rai.synthetic_texts"]
    synthetic = [*filter(None, (synthetic_note(facts), f"Texts by machines: {texts}" if texts else ""))]
    n_made_up = facts.origins.get("simulated", 0) + facts.origins.get("generated", 0)
    is_by_people = sum(facts.origins.values()) > n_made_up
    collection_types = {  # in the words that the specification recommends
        "Surveys": is_by_people and facts.people.get("respondent"),
        "Manual Human Curator": is_by_people and facts.people.keys() - {"respondent", "lead"},
        "Software Collection": n_made_up,
    }
    derived = [*facts.form["rai.was_derived_from"], *facts.sources]
    return {
        **{key: facts.form[path] for key, path in _FROM_FORM.items()},
        "rai:hasSyntheticData": bool(synthetic),
        "rai:dataCollection": _sentences(*facts.steps, *synthetic, *facts.left_out),
        "rai:dataAnnotationProtocol": _sentences(
            *(f"Question of {place}: {question}" for place, question in facts.questions.items()),
            "guidelines.md has the instructions" if facts.guidelines_version else "",
        ),
        "rai:dataAnnotationPlatform": [f"fcpair {facts.version}"],
        "rai:annotationsPerItem": "data/pairs has n_labels for each pair." if facts.tiers else "",
        "rai:annotatorDemographics": facts.form["statement.annotator_demographic"],
        "rai:machineAnnotationTools": [f"{name} ({model})" if model else name for name, model in facts.models.items()],
        "rai:dataPreprocessingProtocol": facts.form["datasheet.cleaning"],
        "rai:dataReleaseMaintenancePlan": facts.form["datasheet.maintenance"],
        "rai:dataCollectionType": [name for name, is_meant in collection_types.items() if is_meant],
        "prov:wasDerivedFrom": [{"@type": "prov:Entity", "name": source} for source in dict.fromkeys(derived)],
        "prov:wasGeneratedBy": {
            "@type": "prov:Activity",
            "name": f"fcpair {facts.version}",
            "description": _sentences(*facts.steps, f"By {people}" if people else "", *synthetic),
        },
    }


def _sentences(*clauses: str) -> str:
    return "".join(f"{clause}. " for clause in clauses if clause).rstrip()


def _person(author: Mapping[str, str]) -> dict[str, Any]:
    """An author; a group has its name in `family` alone."""
    person: dict[str, Any] = {
        "@type": "sc:Person" if author.get("given") else "sc:Organization",
        "name": " ".join(filter(None, map(author.get, ("given", "family")))),
    }
    if affiliation := author.get("affiliation"):
        organization = {"@type": "sc:Organization", "name": affiliation}
        person["affiliation" if author.get("given") else "parentOrganization"] = organization
    if orcid := author.get("orcid"):
        person["identifier"] = f"https://orcid.org/{orcid}"
    return person


def document_texts(facts: ReleaseFacts) -> dict[str, str]:
    """The content of each document, by its name. The same facts give the same bytes.

    In Markdown every value is escaped, unless a filter did it: `line` where it must be one, `code` as a span of code,
    `own` where it is our own Markdown around names.
    """
    is_spdx = bool(facts.licence) and not facts.licence.startswith("LicenseRef-")
    spdx, n_rows = facts.licence.lower(), len(facts.default_table.rows)

    def stated(path: str) -> str:
        """The form's entry under a key, or a note that it is empty."""
        answer = facts.form[path]
        return (answer if isinstance(answer, str) else ", ".join(answer)) or Escaped(f"*not stated (`{path}`)*")

    # For tables with the same columns their names, and the columns, those of one meaning together.
    by_columns: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for table in facts.tables:
        described = tuple((str(name), table.columns.get(str(name), "metadata")) for name in table.rows.columns)
        by_columns.setdefault(described, []).append(table.name)
    column_tables = []
    for described, table_names in by_columns.items():
        names_by_meaning: dict[str, list[str]] = {}
        for name, meaning in described:
            names_by_meaning.setdefault(meaning, []).append(name)
        column_tables.append((table_names, [(names, meaning) for meaning, names in names_by_meaning.items()]))
    context = {
        "facts": facts,
        "form": facts.form,
        "stated": stated,
        "synthetic": synthetic_note(facts),
        "warning": Escaped("\n".join(WARNING)) if facts.about_hate else "",
        "licence": Escaped(_HUB_NAMES.get(spdx, spdx) if is_spdx else "other"),  # one for all, by the hub's names
        "cff_licence": facts.licence if is_spdx else "",
        "licence_name": ", ".join(f"{facts.form[f'licence.{of}'] or 'not stated'} ({of})" for of in _LICENSED),
        "column_tables": column_tables,
        "size": Escaped(next((name for below, name in _SIZES if n_rows < below), "1M<n<10M")),
    }
    texts = {name: render(template, **context) for name, template in TEMPLATES.items()}
    return {**texts, ZENODO: as_json(_zenodo(facts, is_spdx=is_spdx), indent=2) + "\n"}


def _zenodo(facts: ReleaseFacts, *, is_spdx: bool) -> dict[str, Any]:
    """The metadata of a deposit; of several licences the one that permits nothing, and the notes have all of them."""
    form, notes = facts.form, [synthetic_note(facts)]
    licences = {"Labels, answers and decisions": form["licence.labels"], "Texts": form["licence.texts"]}
    if not is_spdx:
        notes += [f"{what}: {licence}" for what, licence in licences.items() if licence]
    code = form["languages"][0].partition("-")[0].lower() if form["languages"] else ""
    metadata = {
        "upload_type": "dataset",
        "title": facts.title,
        "description": html.escape(form["description"] or facts.title, quote=False),  # Zenodo reads it as HTML
        "version": form["version"],
        "publication_date": form["date"],
        "creators": [
            {
                "name": ", ".join(filter(None, (author.get("family"), author.get("given")))),
                **{key: author[key] for key in ("affiliation", "orcid") if key in author},
            }
            for author in form["authors"]
        ],
        "license": facts.licence.lower() if is_spdx else "other-closed" if any(licences.values()) else "",
        "keywords": list(form["keywords"]),
        "language": code if len(code) == 3 else dict(pair.split(":") for pair in _ISO_639_3.split()).get(code, ""),
        "doi": form["doi"],
        "notes": html.escape(" ".join(f"{note}." for note in notes if note), quote=False),
    }
    return {key: value for key, value in metadata.items() if value}
