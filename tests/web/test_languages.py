"""The pages in seven languages: catalogues are complete, agree with the messages, and pages say nothing in English."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.plurals import get_plural
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import Finding, combine_findings
from fcpair.params import Annotate
from fcpair.report import formatting
from fcpair.sentences import Answer, Id, Written, isolate, join, say, say_number
from fcpair.web import languages
from fcpair.web.languages import (
    ENGLISH,
    FOLDER,
    LANGUAGES,
    NAMED_PHRASES,
    NOUN_PHRASES,
    Language,
    catalogue_path,
    preferred_language,
)
from fcpair.web.pages.participant import word_warning
from fcpair.web.server import static_files
from fcpair.web.server.static_files import StaticFiles
from fcpair.words import NOUNS, PAGE_LANGUAGES, Noun
from fcpair.work_records import direction_of
from web.messages import all_messages, message_texts

ROOT = Path(__file__).parents[2]
CODES = [code for code in PAGE_LANGUAGES if code != "en"]
TEMPLATES = ROOT / "fcpair" / "web" / "templates"
SCRIPTS = ROOT / "fcpair" / "web" / "static"
PLACEHOLDER = re.compile(r"%\((\w+)\)s")
NOUN_KEYS = {key for name in NAMED_PHRASES for key in (name, name.capitalize())}


def _catalogue(code: str) -> Catalog:
    with catalogue_path(code).open("rb") as file:
        return read_po(file, locale=code)


def _forms(text: Any) -> list[str]:
    return [text] if isinstance(text, str) else list(text or ())


def test_every_language_has_a_catalogue_and_no_other() -> None:
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} == set(CODES)


@pytest.mark.parametrize("code", CODES)
def test_a_catalogue_has_each_message_translated_and_no_other_and_says_where_it_is(code: str) -> None:
    catalogue = _catalogue(code)
    ids = {_forms(one.id)[0]: one for one in catalogue if one.id}
    assert set(ids) == {one for one, _ in all_messages()}, "run `python docs/catalogues.py`, and translate what is new"
    assert [one for one, message in ids.items() if message.fuzzy or not all(_forms(message.string))] == []
    assert not list(catalogue.obsolete)
    assert catalogue.num_plurals == len(LANGUAGES[code].categories)
    found = {one: sorted({path for path, _ in message.locations}) for one, message in ids.items()}
    assert found == {one: places for (one, _), places in all_messages().items()}
    assert "#, fuzzy" not in catalogue_path(code).read_text("utf-8")


@pytest.mark.parametrize("code", CODES)
def test_a_translation_has_the_values_and_the_elements_of_its_message(code: str) -> None:
    wrong = []
    for one in _catalogue(code):
        if not one.id:
            continue
        *_, message = _forms(one.id)
        for form in _forms(one.string):
            expected, named = ({*PLACEHOLDER.findall(text)} - NOUN_KEYS for text in (message, form))
            is_number_in_words = one.pluralizable and named == expected - {"n"}
            elements = (sorted(re.findall(r"</?\w+>", text)) for text in (message, form))
            is_stray = "%" in PLACEHOLDER.sub("", form) or len(set(map(str, elements))) > 1
            if is_stray or (named != expected and not is_number_in_words):
                wrong.append(form)
    assert wrong == []


@pytest.mark.parametrize("code", PAGE_LANGUAGES)
def test_plurals_are_chosen_by_the_catalogues_rule(code: str) -> None:
    language = LANGUAGES[code]
    rule = re.search(r"plural=(.*?);\\n", catalogue_path(code).read_text("utf-8")) if code != "en" else None
    expression = rule[1] if rule else "(n != 1)"
    python = re.sub(r"([^?:]+)\?([^:]+):", r"(\2) if (\1) else ", expression).replace("&&", " and ")
    for n in range(300):
        expected = int(eval(python, {"n": n}))
        category = Locale.parse(code).plural_form(n)
        at = language.categories.index(category) if category in language.categories else -1
        assert at % len(language.categories) == expected, n
    assert get_plural(code)


@pytest.mark.parametrize("code", PAGE_LANGUAGES)
@pytest.mark.parametrize("n", [0, 1, 2, 5, 11])
def test_a_message_without_a_translation_has_the_forms_of_english(code: str, n: int) -> None:
    language = LANGUAGES[code]
    words = f"{language.number(n)} {'star' if n == 1 or (n, code) == (0, 'fr') else 'stars'}"
    assert language.ngettext("%(n)s star", "%(n)s stars", n) == words


def test_scripts_mark_every_message_that_they_say() -> None:
    ones = {one for one, _ in all_messages()}
    call = re.compile(r'(?<![\w.])tn?\(\s*"((?:[^"\\]|\\.)*)"')
    said = {match[1] for path in SCRIPTS.glob("*.js") for match in call.finditer(path.read_text("utf-8"))}
    assert said - ones == set()


def test_scripts_have_no_sentence_that_is_not_marked() -> None:
    sentence = re.compile(r"""(?<!t\()(?<!tn\()["`]([A-Z][a-z']+ [a-z][^"`]*)["`]""")
    bare = [
        (path.name, match[1])
        for path in sorted(SCRIPTS.glob("*.js"))
        for line in path.read_text("utf-8").splitlines()
        if not line.lstrip().startswith("//")
        for match in sentence.finditer(line)
        if match[1] not in message_texts()
    ]
    assert bare == []


def _bare_text(template: str) -> list[str]:
    """What a template says outside of messages: text between tags, and attributes that are read."""
    text = re.sub(r"(?s)\{#.*?#\}", "", template)
    text = re.sub(r'(?s)<(\w+)[^>]* lang="en"[^>]*>.*?</\1>', "", text)
    attributes = re.findall(r'(?:aria-label|title|placeholder|alt|data-word)="([^"{]*[A-Za-z][^"{]*)"', text)
    text = re.sub(r"\{% block width %\}\w+\{% endblock %\}", "", text)
    text = re.sub(r"(?s)\{%.*?%\}|\{\{.*?\}\}", "\x00", text)
    text = text.replace('\x00 class="n">', "\x00>")  # of an element that has its name in another branch
    text = re.sub(r"(?s)<kbd>.*?</kbd>|<title>.*?</title>", "", text)
    return [*attributes, *(one for one in re.findall(r"[A-Za-z][\w',.;:]*", re.sub(r"(?s)<[^>]*>", "\x00", text)))]


def test_templates_say_nothing_that_is_not_a_message() -> None:
    of_builders = {"_htmx.html.j2", "lead_components.html.j2"}
    templates = [path for path in TEMPLATES.glob("*.j2") if path.name not in of_builders]
    allowed = {"UTC", "CSV", "n"}
    bare = {path.name: words for path in templates if (words := set(_bare_text(path.read_text("utf-8"))) - allowed)}
    assert bare == {}


def test_each_noun_has_its_phrases() -> None:
    assert set(NOUN_PHRASES) == set(NOUNS)
    for word, phrases in NOUN_PHRASES.items():
        noun = Noun.of(word)
        assert phrases.counted == (f"%(n)s {noun.one}", f"%(n)s {noun.many}")
        assert phrases.forms[:2] == noun


def test_a_number_agrees_with_its_noun() -> None:
    counts = {
        ("en", 1200): "1,200 pairs",
        ("de", 1200): "1.200 Paare",
        ("it", 1): "1 coppia",
        ("fr", 0): "0 paire",
        ("es", 2): "2 pares",
        ("fa", 21): "۲۱ جفت",
        ("ar", 2): "زوجان",
        ("ar", 5): "٥ أزواج",
        ("ar", 11): "١١ زوجًا",
    }
    assert {(code, n): LANGUAGES[code].count_noun(Noun.of("pair"), n) for code, n in counts} == counts


FIGURES = {
    "en": ("5,805", "-0.123", "87.5 %", "< 0.1 %", "0.100 to 0.200", "2 Mar 2026, 12:00:00 UTC", "2 Mar 2026 (UTC)"),
    "de": ("5.805", "-0,123", "87,5\xa0%", "< 0,1\xa0%", None, "02.03.2026, 12:00:00 UTC", "02.03.2026 (UTC)"),
    "fa": ("۵٬۸۰۵", "\u200e−۰٫۱۲۳", "۸۷٫۵٪", "< ۰٫۱٪", None, None, "۲ مارس ۲۰۲۶ (UTC)"),
    "ar": ("٥٬٨٠٥", "\u061c-٠٫١٢٣", "٨٧٫٥٪\u061c", "< ٠٫١٪\u061c", None, None, "٠٢\u200f/٠٣\u200f/٢٠٢٦ (UTC)"),
}


@pytest.mark.parametrize("code", FIGURES)
def test_figures_are_written_as_in_the_language(code: str) -> None:
    words = LANGUAGES[code]
    at = datetime(2026, 3, 2, 12, tzinfo=UTC)
    written = (
        words.count(5805),
        words.decimal(-0.1234),
        words.share(7, 8),
        words.share(1, 90_000),
        words.bounds(0.1, 0.2),
        words.moment(at.isoformat()),
        words.day(at.timestamp()),
    )
    assert [one if expected else None for one, expected in zip(written, FIGURES[code], strict=True)] == [*FIGURES[code]]
    assert LANGUAGES["de"].moment("2026-11-25T16:51:19.810+00:00") == "25.11.2026, 16:51:19 UTC"
    assert LANGUAGES["fa"].moment("2026-11-25T16:51:19.810+00:00").startswith("۲۵ نوامبر ۲۰۲۶")
    assert words.cell(formatting.share(7, 8)) == words.share(7, 8)
    assert words.cell(formatting.bounds(0.1, 0.2)) == words.bounds(0.1, 0.2)
    assert words.cell("7 of 8") == "7 of 8"
    assert {words.count(0), words.decimal(None), words.share(0, 0), words.duration(None)} == {
        LANGUAGES[code].digits(0),
        "–",
    }


@given(st.floats(-1e6, 1e6), st.integers(0, 5))
def test_english_figures_are_those_of_a_report(value: float, places: int) -> None:
    words, part = ENGLISH, abs(int(value))
    assert words.decimal(value, places) == formatting.decimal(value, places)
    assert words.count(part) == formatting.count(part)
    assert words.share(part, 1_000_000) == formatting.share(part, 1_000_000)
    assert words.bounds(value, value) == formatting.bounds(value, value)


def test_a_browser_asks_for_a_language() -> None:
    asked = {
        "": "en",
        "de-AT,de;q=0.9,en;q=0.8": "de",
        "pl,fr;q=0.3,it;q=0.5": "it",
        "pl": "en",
        "*": "en",
        "fa-IR": "fa",
        "it;q=0, fr;q=0.1": "fr",
        "it;q=x,;;,": "en",
    }
    assert {header: preferred_language(header).code for header in asked} == asked


@pytest.mark.parametrize("hs_name", ["HS", "hate speech", "claim"])
def test_the_texts_of_fcpair_itself_are_translated(hs_name: str) -> None:
    terms = Annotate().worded(hs_name)
    for text in (terms.consent, terms.thanks):
        assert text
        assert all(LANGUAGES[code].find(text) != text for code in CODES)


@pytest.mark.parametrize("code", PAGE_LANGUAGES)
@pytest.mark.parametrize("hs_name", ["HS", "hate speech", "claim"])
def test_the_warning_of_fcpair_itself_says_the_noun_of_who_reads_in_each_language(hs_name: str, code: str) -> None:
    language, warning = LANGUAGES[code], Annotate().worded(hs_name).warning or ""
    assert (word_warning(warning, language, Noun.of("pair")) == warning) is (code == "en")
    for noun in map(Noun.of, NOUNS):
        nouns = language.noun_phrases(noun)["nouns"]
        assert re.search(rf"\b{nouns}\b", word_warning(warning, language, noun))
    assert word_warning("100 % hard; skip %(nouns)s.", language, Noun.of("pair")) == "100 % hard; skip %(nouns)s."


@pytest.mark.parametrize("code", CODES)
def test_a_refusal_says_the_noun_of_whoever_meets_it_or_none(code: str) -> None:
    pair = LANGUAGES[code].noun_phrases(Noun.of("pair"))
    met = ("steps/answers/submissions.py", "steps/adjudication/adjudication_queue.py", "steps/rules/permissions.py")
    messages = [one for (one, many), places in all_messages().items() if not many and places[0].endswith(met)]
    about_pairs = [one for one in messages if re.search(r"\bpair\b", one)]
    assert len(about_pairs) > 20
    for message in about_pairs:
        said = LANGUAGES[code].say(say(message, number=Id(12), name="ana"), Noun.of("text"))
        assert not re.search(rf"\b(?:ال|لل)?{pair['noun']}\b", said, re.IGNORECASE), said


@pytest.mark.parametrize("code", PAGE_LANGUAGES)
@given(n=st.integers(0, 10**6))
def test_a_sentence_is_said_with_its_values_as_the_language_writes_them(code: str, n: int) -> None:
    language, noun = LANGUAGES[code], Noun.of("statement")
    values = {"line": Id(n), "least": n, "words": Written("87.5 %"), "name": Answer("not_sure"), "file": "a %(b)s.csv"}
    parts = {name: language.say(say(f"%({name})s", **values), noun) for name in values}
    assert parts == {
        "line": language.digits(n),
        "least": language.number(n),
        "words": language.percent("87.5 %"),
        "name": language.answer_name("not_sure"),
        "file": isolate("a %(b)s.csv", language.direction),
    }
    pairs = say_number("%(n)s pair", "%(n)s pairs", n)
    assert language.say(pairs, noun) == language.count_noun(noun, n)
    assert language.say(join((pairs, say("%(of)s", of=[pairs, "x"])), "; "), noun) == language.find("; ").join(
        (language.count_noun(noun, n), language.find(", ").join((language.count_noun(noun, n), language.isolate("x"))))
    )


@pytest.mark.parametrize(("code", "own", "alike"), [("en", "چکاد", "ana"), ("fa", "ana", "چکاد")])
def test_a_name_with_letters_against_the_page_is_isolated_once_and_no_address_or_code(
    code: str, own: str, alike: str
) -> None:
    language, noun, shown = LANGUAGES[code], Noun.of("pair"), f"\u2068{own}\u2069"
    sentence = say("%(n)s: %(name)s, %(names)s, %(label)s", n=3, name=own, names=[own, alike], label=Answer(own))
    n = language.number(3)
    assert language.say(sentence, noun) == f"{n}: {shown}, {shown}{language.find(', ')}{alike}, {shown}"
    assert language.gettext("%(n)s: %(name)s", n=3, name=own) == f"{n}: {shown}"
    assert language.gettext("%(name)s", name=shown) == shown
    assert language.to_html("<b>%(name)s</b> %(other)s", name=f"<{own}", other=alike) == (
        f"<b>\u2068&lt;{own}\u2069</b> {alike}"
    )
    bare = '<a href="%(name)s"><code>%(name)s</code></a>'
    assert language.to_html(bare, name=own) == f'<a href="{own}"><code>{own}</code></a>'


@pytest.mark.parametrize("code", CODES)
def test_what_is_wrong_with_a_file_is_said_in_the_language(code: str) -> None:
    language, noun = LANGUAGES[code], Noun.of("pair")
    findings = [Finding("a.csv", line, say("the text is empty")) for line in range(1, 9)]
    said = language.say(str(combine_findings("a.csv", findings)), noun)
    assert language.find("the text is empty") in said
    assert not re.search("empty|line|wrong", said), said


# A server loads what it needs of a language when the first page in it is shown, and of English hardly anything


@pytest.mark.parametrize("changed", ["catalogue", "SCRIPT", "__file__"])
def test_the_version_of_a_languages_script_changes_with_all_that_it_is_made_from(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, other = Language("de").script_version, tmp_path / "other"
    other.write_bytes(b"other")
    if changed == "catalogue":
        monkeypatch.setattr(languages, "catalogue_path", lambda _: other)
    else:
        monkeypatch.setattr(languages, changed, other)
    assert Language("de").script_version != before


def test_no_catalogue_is_read_before_a_script_of_its_language_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[str] = []

    def read(code: str, *_places: object) -> dict[str, str]:
        codes.append(code)
        return {}

    monkeypatch.setattr(languages, "_read_messages", read)
    monkeypatch.setattr("fcpair.web.server.static_files.LANGUAGES", {code: Language(code) for code in PAGE_LANGUAGES})
    files = StaticFiles(static_files.FOLDER)
    assert len({files.versions[f"language/{code}.js"] for code in PAGE_LANGUAGES}) == len(PAGE_LANGUAGES)
    assert codes == []
    assert files["language/de.js"].content
    assert set(codes) == {"de"}


@pytest.mark.parametrize("code", PAGE_LANGUAGES)
def test_a_language_has_the_name_and_the_direction_that_babel_knows(code: str) -> None:
    language, locale = Language(code), Locale.parse(code)
    name = locale.get_language_name(code)
    assert name
    assert (language.name, language.direction) == (name[:1].upper() + name[1:], locale.text_direction)


@pytest.mark.parametrize("n", [-1200, -1, 0, 1, 2, 999, 1000, 186_400, 18_578_846])
def test_english_is_written_as_babel_writes_it_and_without_it(n: int) -> None:
    english, locale = Language("en"), Locale.parse("en")
    assert english.number(n) == format_decimal(n, locale=locale)
    assert english.ngettext("one", "other", n) == locale.plural_form(n)
    assert "_locale" not in vars(english)


# How texts run


def test_a_text_runs_as_most_of_its_letters_do() -> None:
    directions = {
        "Have you met one?": "ltr",
        "آیا یکی از آن‌ها را دیده‌ای؟": "rtl",
        "האם פגשת אחד מהם?": "rtl",
        "Хіба ти знаєш когось?": "ltr",
        "你见过吗？": "ltr",
        "": "ltr",
        "12:30 … ?!": "ltr",
        "@Kim چرا از همه‌ی آن‌ها متنفری؟": "rtl",
        "سلام is what they say when they meet somebody": "ltr",
        "aب": "ltr",
    }
    assert {text: direction_of(text) for text in directions} == directions


@given(st.text(alphabet=" 0123456789.,!?()«»‌\n", max_size=20), st.sampled_from(["a", "ب"]))
def test_digits_and_signs_have_no_say(signs: str, letter: str) -> None:
    assert direction_of(signs + letter + signs) == direction_of(letter)


@pytest.mark.parametrize("script", sorted(path.name for path in Path("fcpair/web/static").glob("*.js")))
def test_each_message_of_a_script_is_in_the_catalogues_as_its_own(script: str) -> None:
    assert {
        text for text in messages_of(script) if f"fcpair/web/static/{script}" not in all_messages()[text, ""]
    } == set()


def test_only_leads_are_sent_the_messages_of_their_scripts() -> None:
    sent = {leads: Language("fa").script(leads=leads).decode() for leads in (True, False)}
    of_leads = [json.dumps(text, ensure_ascii=False) for text in messages_of("pair-table.js")]
    assert all(text in sent[True] for text in of_leads)
    assert not any(text in sent[False] for text in of_leads)
    for name in ("desk.js", "view.js", "questions.js"):
        for text in messages_of(name):
            assert all(json.dumps(text, ensure_ascii=False) in script for script in sent.values()), text


def messages_of(script: str) -> list[str]:
    """The messages without a plural that a script says."""
    return re.findall(r'\bt\("([^"]+)"', Path("fcpair/web/static", script).read_text("utf-8"))
