"""croissant.json: a release in Croissant 1.1, with the fields of responsible AI and of provenance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fcpair.files.release.redaction import as_json
from fcpair.files.release.release_facts import ReleaseFacts, ReleaseTable

if TYPE_CHECKING:
    import pandas as pd

CROISSANT = "croissant.json"
PARQUET = "application/x-parquet"
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "prov": "http://www.w3.org/ns/prov#",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context of the specification, version 1.1."""
CONFORMS = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
_FROM_FORM = {
    "rai:dataLimitations": "rai.data_limitations",
    "rai:dataBiases": "rai.data_biases",
    "rai:personalSensitiveInformation": "rai.personal_sensitive_information",
    "rai:dataUseCases": "rai.data_use_cases",
    "rai:dataSocialImpact": "rai.data_social_impact",
}


def croissant_text(facts: ReleaseFacts, sha256_by_path: Mapping[str, str]) -> str:
    """The file; `sha256_by_path` has the digest of the Parquet file of each table."""
    form = facts.form
    licences = dict.fromkeys(filter(None, (form["licence.labels"], form["licence.texts"])))
    metadata: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": facts.name,
        "alternateName": facts.title,
        "description": form["description"] or facts.title,
        "license": [licence_url(licence) for licence in licences],
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
        "distribution": [_file_object(table, sha256_by_path) for table in facts.tables],
        "recordSet": [_record_set(table) for table in facts.tables],
    }
    stated = {key: value for key, value in metadata.items() if value not in ("", [])}
    return as_json(stated, indent=2) + "\n"


def licence_url(licence: str) -> str:
    """The address of an SPDX licence; a LicenseRef as it is."""
    return licence if licence.startswith("LicenseRef-") else f"https://spdx.org/licenses/{licence}"


def synthetic_note(facts: ReleaseFacts) -> str:
    """How many answers are made up or by models; empty where none are."""
    kinds = ((facts.n_simulated, "made up by simulated people"), (facts.n_generated, "given by language models"))
    total = sum(facts.origins.values())
    return " and ".join(f"{n:,} of {total:,} answers were {kind}" for n, kind in kinds if n)


def _synthetic_clauses(facts: ReleaseFacts) -> list[str]:
    """Clauses on what is not by people: of the answers, which the study knows, and of the texts, which people state."""
    texts = facts.form["rai.synthetic_texts"]
    return [clause for clause in (synthetic_note(facts), f"Texts by machines: {texts}" if texts else "") if clause]


def _rai(facts: ReleaseFacts) -> dict[str, Any]:
    """The fields of responsible AI and of provenance."""
    people = ", ".join(f"{n:,} {role}{'s' * (n != 1)}" for role, n in facts.people.items())
    synthetic = _synthetic_clauses(facts)
    derived = [*facts.form["rai.was_derived_from"], *facts.sources]
    return {
        **{key: facts.form[path] for key, path in _FROM_FORM.items()},
        "rai:hasSyntheticData": bool(synthetic),
        "rai:dataCollection": _sentences(*facts.steps, *synthetic, *facts.left_out),
        "rai:dataAnnotationProtocol": _sentences(
            *_questions(facts), "guidelines.md has the instructions" if facts.guidelines_version else ""
        ),
        "rai:dataAnnotationPlatform": [f"fcpair {facts.version}"],
        "rai:annotationsPerItem": "data/pairs has n_labels for each pair." if facts.tiers else "",
        "rai:annotatorDemographics": facts.form["statement.annotator_demographic"],
        "rai:machineAnnotationTools": [f"{name} ({model})" if model else name for name, model in facts.models.items()],
        "rai:dataPreprocessingProtocol": facts.form["datasheet.cleaning"],
        "rai:dataReleaseMaintenancePlan": facts.form["datasheet.maintenance"],
        "rai:dataCollectionType": _collection_types(facts),
        "prov:wasDerivedFrom": [{"@type": "prov:Entity", "name": source} for source in dict.fromkeys(derived)],
        "prov:wasGeneratedBy": {
            "@type": "prov:Activity",
            "name": f"fcpair {facts.version}",
            "description": _sentences(*facts.steps, f"By {people}" if people else "", *synthetic),
        },
    }


def _collection_types(facts: ReleaseFacts) -> list[str]:
    """How answers were collected, in the words that the specification recommends."""
    is_by_people = sum(facts.origins.values()) > facts.n_simulated + facts.n_generated
    types = (
        ("Surveys", is_by_people and facts.people.get("respondent")),
        ("Manual Human Curator", is_by_people and facts.people.keys() - {"respondent", "lead"}),
        ("Software Collection", facts.n_simulated or facts.n_generated),
    )
    return [name for name, is_meant in types if is_meant]


def _questions(facts: ReleaseFacts) -> list[str]:
    return [f"Question of {place}: {question}" for place, question in facts.questions.items()]


def _sentences(*clauses: str) -> str:
    return "".join(f"{clause}. " for clause in clauses if clause).rstrip()


def _person(author: Mapping[str, str]) -> dict[str, Any]:
    """An author; a group has its name in `family` alone."""
    person: dict[str, Any] = {
        "@type": "sc:Person" if author.get("given") else "sc:Organization",
        "name": " ".join(filter(None, map(author.get, ("given", "family")))),
    }
    if affiliation := author.get("affiliation"):
        person["affiliation" if author.get("given") else "parentOrganization"] = {
            "@type": "sc:Organization",
            "name": affiliation,
        }
    if orcid := author.get("orcid"):
        person["identifier"] = f"https://orcid.org/{orcid}"
    return person


def _file_object(table: ReleaseTable, sha256_by_path: Mapping[str, str]) -> dict[str, Any]:
    path = f"{table.path}.parquet"
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "description": table.about,
        "contentUrl": path,
        "encodingFormat": PARQUET,
        "sha256": sha256_by_path[path],
    }


def _record_set(table: ReleaseTable) -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{quote(table.name)}/{quote(str(name), safe='')}",
            "name": str(name),
            "description": table.columns.get(str(name), str(name)),
            "dataType": _data_type(table.rows[name]),
            "source": {"fileObject": {"@id": f"{table.path}.parquet"}, "extract": {"column": str(name)}},
        }
        for name in table.rows.columns
    ]
    about = f"{table.about} {table.rule}".strip()
    return {
        "@type": "cr:RecordSet",
        "@id": quote(table.name),
        "name": table.name,
        "description": about,
        "field": fields,
    }


def _data_type(column: pd.Series) -> str:
    return {"i": "sc:Integer", "u": "sc:Integer", "b": "sc:Boolean", "f": "sc:Float"}.get(column.dtype.kind, "sc:Text")
