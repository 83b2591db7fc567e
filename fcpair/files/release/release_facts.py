"""Facts about a release: its tables, what people say of it in release.toml, and what its documents state."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from fcpair.errors import Finding, InputError, reject, suggest_name, translate_read_errors
from fcpair.files.tables.tabular import check_file
from fcpair.files.tables.text_files import format_section
from fcpair.lazy import pd
from fcpair.sentences import mark, say
from fcpair.stages.corpus.text_identity import digest

FORM_FILE = "release.toml"
AUTHOR_KEYS = ("given", "family", "affiliation", "orcid")
TOP = "release"
Kind = Literal["text", "date", "version", "licence", "url", "doi", "texts", "languages", "authors"]
_LISTS = ("texts", "languages", "authors")
_EXAMPLES: dict[Kind, str] = {"date": "", "texts": "[]", "languages": "[]", "authors": ""}
DATA, TEXT_DIGEST = "data", "_sha256"
NO_TEXTS = say(
    "no pair is in any tier yet, so the release would hold no texts, only labels and decisions by the numbers of their "
    "pairs; have pairs decided and validated first, or make a draft"
)


@dataclass(frozen=True)
class FormEntry:
    """A key of the form: its section, its name, its label on pages, what is asked, its kind, and whether it must be."""

    section: str
    key: str
    label: str
    asks: str
    kind: Kind = "text"
    required: bool = True

    @property
    def path(self) -> str:
        """The key with its section: `licence.labels`."""
        return self.key if self.section == TOP else f"{self.section}.{self.key}"


ENTRIES = (
    FormEntry(TOP, "title", mark("Title"), mark("The title of the dataset.")),
    FormEntry(TOP, "description", mark("Description"), mark("What the dataset is, in a sentence or two.")),
    FormEntry(TOP, "version", mark("Version"), mark("The version of this release, such as 1.0.0."), "version"),
    FormEntry(TOP, "date", mark("Day"), mark("The day of the release, such as 2026-11-26; no clock is asked."), "date"),
    FormEntry(TOP, "languages", mark("Languages"),
        mark('The languages of the texts, as BCP 47 tags: ["en"].'), "languages"),
    FormEntry(TOP, "keywords", mark("Keywords"), mark("Keywords by which others find it."), "texts", required=False),
    FormEntry(TOP, "url", mark("Address"), mark("Where the dataset can be found."), "url", required=False),
    FormEntry(TOP, "doi", mark("DOI"), mark("Its DOI, such as 10.5281/zenodo.1."), "doi", required=False),
    FormEntry(TOP, "contact", mark("Contact"),
        mark("Whom readers of the dataset may write to; it is published."), required=False),
    FormEntry(TOP, "funding", mark("Funding"), mark("Who paid for it."), required=False),
    FormEntry(TOP, "cite", mark("Citation"), mark("How to cite the paper about it."), required=False),
    FormEntry(TOP, "authors", mark("Authors"),
        mark("Who made it, as people are to be cited: one table each."), "authors"),
    FormEntry("licence", "labels", mark("Licence of the labels"),
        mark("The licence of labels, answers and decisions: an SPDX id or LicenseRef-NAME."), "licence"),
    FormEntry("licence", "texts", mark("Licence of the texts"),
        mark("The licence of the texts; of several corpora the strictest."), "licence"),
    FormEntry("rai", "data_limitations", mark("Limitations"),
        mark("What the data cannot show, and what it must not be used for.")),
    FormEntry("rai", "data_biases", mark("Biases"),
        mark("Which biases are known or likely: of sources, selection, annotators.")),
    FormEntry("rai", "personal_sensitive_information", mark("Personal information"),
        mark("Which personal or sensitive information the texts hold.")),
    FormEntry("rai", "data_use_cases", mark("Uses"),
        mark("For which uses the data was made, and for which it was checked.")),
    FormEntry("rai", "data_social_impact", mark("Social impact"), mark("What good and what harm may come of it.")),
    FormEntry("rai", "synthetic_texts", mark("Texts written by machines"),
        mark("Which source texts machines wrote; empty if none."), required=False),
    FormEntry("rai", "was_derived_from", mark("Sources"),
        mark("The corpora that it is made of: names, versions, addresses."), "texts"),
    FormEntry("datasheet", "purpose", mark("Purpose"), mark("For what purpose the dataset was made, and by whom.")),
    FormEntry("datasheet", "people", mark("People"),
        mark("How annotators were found, what they were paid, how they were looked after.")),
    FormEntry("datasheet", "ethics", mark("Ethics review"), mark("Which ethics review there was, and what it said.")),
    FormEntry("datasheet", "source_consent", mark("Consent of the writers"),
        mark("Whether the writers of the source texts knew and consented.")),
    FormEntry("datasheet", "cleaning", mark("Cleaning"),
        mark("What was done to the texts before they came into the study.")),
    FormEntry("datasheet", "maintenance", mark("Maintenance"),
        mark("Who maintains it, how errors are reported, how long it is kept.")),
    FormEntry("statement", "curation_rationale", mark("Choice of the texts"), mark("Why these texts were chosen.")),
    FormEntry("statement", "language_variety", mark("Varieties of language"),
        mark("Which varieties of the languages, and in which script.")),
    FormEntry("statement", "speaker_demographic", mark("Who wrote the texts"),
        mark("What is known of those who wrote the texts.")),
    FormEntry("statement", "annotator_demographic", mark("Who labelled"),
        mark("What is known of those who labelled, and of their training.")),
    FormEntry("statement", "speech_situation", mark("Situation"),
        mark("When, where and for whom the texts were written.")),
    FormEntry("statement", "text_characteristics", mark("Genre and topics"),
        mark("Of what genre and on which topics the texts are.")),
)  # fmt: skip
"""Every key of the form, in its order."""
_BY_PATH = {entry.path: entry for entry in ENTRIES}
EXPECTS = mark("`%(key)s` is `%(text)s`; expected %(expected)s")
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:[-+][\w.+-]+)?")  # as Croissant asks for
_ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_PATTERNS: dict[str, tuple[re.Pattern[str], str]] = {
    "version": (_VERSION, mark("three numbers, such as 1.0.0 (https://semver.org)")),
    "url": (re.compile(r"https?://\S+"), mark("an address that begins with https://")),
    "doi": (re.compile(r"10\.\d{4,9}/\S+"), mark("a DOI without an address, such as 10.5281/zenodo.1")),
}
"""Patterns of texts of some kinds, as Croissant and CITATION.cff ask for them."""


@dataclass(frozen=True)
class ReleaseForm:
    """The entries that people made for a release, by `FormEntry.path`; what is missing has no entry."""

    answers: Mapping[str, Any]

    def __getitem__(self, path: str) -> Any:
        return self.answers.get(path, () if _BY_PATH[path].kind in _LISTS else "")

    @property
    def missing(self) -> list[str]:
        """The keys that must be there and are not."""
        return [entry.path for entry in ENTRIES if entry.required and not self[entry.path]]

    def as_toml(self) -> str:
        """The form as `read_form` reads it back, with no comments."""
        sections = []
        for section in dict.fromkeys(entry.section for entry in ENTRIES):
            values = {entry.key: self[entry.path] for entry in ENTRIES if entry.section == section}
            if plain := {key: value for key, value in values.items() if value and key != "authors"}:
                sections.append(format_section("" if section == TOP else f"[{section}]", plain))
        authors = [format_section("[[authors]]", author) for author in self["authors"]]
        return "\n".join([*sections[:1], *authors, *sections[1:]]).lstrip()


def template_text() -> str:
    """A release.toml to be filled in: every key, with what is asked above it."""
    lines = ["# What only people know of this dataset. `fcpair release NAME` lists the keys that are still empty."]
    for section in dict.fromkeys(entry.section for entry in ENTRIES):
        lines += ["", *([] if section == TOP else [f"[{section}]"])]
        for entry in (entry for entry in ENTRIES if entry.section == section and entry.kind != "authors"):
            example = _EXAMPLES.get(entry.kind, '""')
            lines += [f"# {entry.asks}{'' if entry.required else ' May stay empty.'}"]
            lines += [f"{entry.key} = {example}" if example else f"# {entry.key} = 2026-11-26"]
        if section == TOP:
            lines += ["", f"# {_BY_PATH['authors'].asks}", *(f"# {line}" for line in _AUTHOR_LINES)]
    return "\n".join(lines) + "\n"


_AUTHOR_LINES = ("[[authors]]", *(f'{key} = ""' for key in AUTHOR_KEYS))


def read_form(path: str | Path) -> ReleaseForm:
    """Read a release.toml, however much of it is filled in. Raises InputError: no such file, not TOML, or all together
    unknown keys, values of another kind, a licence that is neither an SPDX id nor a LicenseRef.
    """
    if not (path := Path(path)).exists():
        raise InputError(f"{path}: there is no such file; `fcpair release --template > {path}` writes one to fill in")
    check_file(path)
    with translate_read_errors(path, expected="TOML"):
        content = tomllib.loads(path.read_text("utf-8"))
    flat = dict[str, Any]()
    for key, value in content.items():
        is_section = key != TOP and isinstance(value, Mapping) and any(key == entry.section for entry in ENTRIES)
        flat |= {f"{key}.{name}": item for name, item in value.items()} if is_section else {key: value}
    form, errors = parse_form(flat)
    reject(path, [Finding(str(path), None, str(error)) for error in errors.values()])
    return form


def parse_form(values: Mapping[str, Any]) -> tuple[ReleaseForm, dict[str, InputError]]:
    """The form of values by `FormEntry.path`, and what is wrong with each that cannot be."""
    answers, errors = dict[str, Any](), dict[str, InputError]()
    for key, value in values.items():
        try:
            if answer := _read_answer(key, value):
                answers[key] = answer
        except InputError as error:
            errors[key] = error
    return ReleaseForm(answers), errors


def _read_answer(key: str, value: Any) -> Any:
    if key not in _BY_PATH:
        raise InputError.say("unknown key `%(key)s`; %(hint)s", key=key, hint=suggest_name(key, _BY_PATH))
    if (kind := _BY_PATH[key].kind) == "authors":
        return _read_authors(value)
    if kind in ("texts", "languages"):
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise InputError.say("`%(key)s` must be a list of texts", key=key)
        texts = tuple(item.strip() for item in value if item.strip())
        if kind == "languages" and (odd := [text for text in texts if not _LANGUAGE.fullmatch(text)]):
            raise InputError.say(
                "`%(key)s` has `%(text)s`; expected tags such as en, pt-BR or zh-Hant (BCP 47)", key=key, text=odd[0]
            )
        return texts
    if kind == "date":
        try:
            return value.isoformat() if type(value) is date else date.fromisoformat(value).isoformat() if value else ""
        except (TypeError, ValueError):
            message = mark("`%(key)s` is `%(text)s`; expected a day, such as 2026-11-26")
            raise InputError.say(message, key=key, text=str(value)) from None
    if not isinstance(value, str):
        raise InputError.say("`%(key)s` must be a text in quotation marks", key=key)
    if kind in _PATTERNS and value.strip():
        pattern, expected = _PATTERNS[kind]
        if not pattern.fullmatch(value.strip()):
            raise InputError.say(EXPECTS, key=key, text=value, expected=say(expected))
    return _read_licence(key, value.strip()) if kind == "licence" and value.strip() else value.strip()


def _read_licence(key: str, licence: str) -> str:
    try:
        if len(licence.split()) == 1:
            return str(canonicalize_license_expression(licence))
    except InvalidLicenseExpression:
        pass
    expected = say("one id of https://spdx.org/licenses, such as CC-BY-4.0, or LicenseRef-NAME for any other licence")
    raise InputError.say(EXPECTS, key=key, text=licence, expected=expected)


def _read_authors(value: Any) -> tuple[dict[str, str], ...]:
    if not isinstance(value, list) or not all(isinstance(author, dict) for author in value):
        raise InputError.say("`authors` must be tables, each under [[authors]]")
    authors = []
    for author in value:
        if unknown := [key for key in author if key not in AUTHOR_KEYS]:
            hint = suggest_name(unknown[0], AUTHOR_KEYS)
            raise InputError.say("unknown key `%(key)s` of an author; %(hint)s", key=unknown[0], hint=hint)
        texts = {key: str(author.get(key, "")).strip() for key in AUTHOR_KEYS}
        if texts["orcid"] and not _ORCID.fullmatch(texts["orcid"]):
            message = mark("the ORCID `%(text)s` is none; expected one such as 0000-0002-1825-0097")
            raise InputError.say(message, text=texts["orcid"])
        if any(texts.values()):
            if not texts["family"]:
                raise InputError.say("an author has no `family`; a group has its name there")
            authors.append({key: text for key, text in texts.items() if text})
    return tuple(authors)


@dataclass(frozen=True)
class ReleaseTable:
    """A table of a release: its name, its rows, what it holds, what its columns hold, and which of these are texts."""

    name: str
    rows: pd.DataFrame
    about: str
    columns: Mapping[str, str]
    texts: Sequence[str] = ()
    dropped: Sequence[str] = ()  # columns that go together with the texts
    tier: str = ""  # that it holds, and its rule
    rule: str = ""
    is_side: bool = False  # it holds no answers, but the rows that they are about

    @property
    def path(self) -> str:
        """Its place in the folder, without a suffix."""
        return f"{DATA}/{self.name}"

    def without_texts(self) -> ReleaseTable:
        """The same with digests in the place of texts."""
        rows = self.rows.drop(columns=list(self.dropped), errors="ignore")
        columns = {name: about for name, about in self.columns.items() if name in rows.columns}
        for text in (name for name in self.texts if name in rows.columns):
            rows[text] = [digest(body) if body else "" for body in rows[text]]
            columns[text] = f"the SHA-256 of the text of `{text}`, by which `join_texts.py` finds it"
        names = {text: f"{text}{TEXT_DIGEST}" for text in self.texts}
        columns = {names.get(name, name): about for name, about in columns.items()}
        return replace(self, rows=rows.rename(columns=names), columns=columns, texts=[*names.values()], dropped=())


@dataclass(frozen=True)
class ReleaseFacts:
    """Facts that the documents of a release state; all come from the study, but the form, which people fill in."""

    name: str
    form: ReleaseForm
    study_title: str
    hs_name: str
    cn_name: str
    about_hate: bool
    version: str
    has_texts: bool
    tables: Sequence[ReleaseTable]
    questions: Mapping[str, str]  # what was asked, round by round
    guidelines_version: int  # 0 if there are none
    origins: Mapping[str, int]  # how many answers came from where
    people: Mapping[str, int]  # how many there are by role
    models: Mapping[str, str] = field(default_factory=dict)  # what each is
    demographics: Sequence[tuple[str, str, int]] = ()
    agreement: Sequence[Mapping[str, Any]] = ()  # the figures that the datasheet shows
    has_agreement: bool = False  # there is a file with all of them
    sources: Sequence[str] = ()  # the files that the corpora came from
    steps: Sequence[str] = ()  # what was done, in a line for each stage
    notes: Sequence[str] = ()
    qrels_ids: str = ""  # says which ids the qrels have
    left_out: Sequence[str] = ()  # what the study has that no table has
    consent: str = ""

    @property
    def title(self) -> str:
        """The title that people gave, else the study's."""
        return self.form["title"] or self.study_title or self.name

    @property
    def licence(self) -> str:
        """The licence of all that is in it; empty where labels and texts have different ones, or one is not stated."""
        licences = {self.form["licence.labels"], *([self.form["licence.texts"]] if self.has_texts else ())}
        return str(licences.pop()) if len(licences) == 1 else ""

    @property
    def tiers(self) -> list[ReleaseTable]:
        """The tables that are tiers."""
        return [table for table in self.tables if table.tier]

    @property
    def default_table(self) -> ReleaseTable:
        """The table that is loaded where none is named: the widest tier, or else the first answers."""
        return (self.tiers or [table for table in self.tables if not table.is_side])[0]
