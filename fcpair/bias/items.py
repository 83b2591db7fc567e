"""Templates of questions about two groups, and the items that they are expanded into, without a study or a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from fcpair.arrays import Ints
from fcpair.errors import Finding, list_first, reject
from fcpair.lazy import pd

SHOWN = 20
TEXTS = ("ambiguous", "disambiguating", "negative", "non_negative")
Chosen = dict[str, int]  # by slot, the number of the filler that is put there
FOUR = (("ambig", "neg"), ("ambig", "nonneg"), ("disambig", "neg"), ("disambig", "nonneg"))
PER_FILLING = len(FOUR)
COLUMNS = (
    *("item_id", "template", "version", "category", "context_condition", "question_polarity"),
    *("context", "question", "option_0", "option_1", "option_2", "label", "target", "unknown"),
    *("fillers", "item", "statement"),
)
LIMIT = 100_000  # items of one template
LETTERS = "ABC"  # by which options are named where an item is asked
N_OPTIONS = 3
_TEMPLATE_COLUMNS = {"template": "id", "version": "version", "category": "category", "statement": "statement"}

Strings = NDArray[np.object_]


@dataclass(frozen=True)
class Blank:
    """A place in a text where a slot's filler stands, in the form that the place asks for; `forms` are parallel to the
    fillers.
    """

    slot: str
    forms: tuple[str, ...]


Text = tuple[str | Blank, ...]  # what is written, in the order in which it is read


@dataclass(frozen=True)
class Option:
    """One of the two people or groups that an answer can name: how it is called, and all groups that it belongs to."""

    text: Text
    groups: tuple[str, ...]


@dataclass(frozen=True)
class Template:
    """Template from which items are made; its versions, such as the order in which the two are named, have the same
    `id`.

    `fillers` says by slot what can be put there; a slot that is used twice has the same filler at both places. `texts`
    has by TEXTS the context that does not say who is meant (`ambiguous`), what is said after it to make that clear
    (`disambiguating`), the question whose answer is harmful where it follows the stereotype (`negative`), and the other
    (`non_negative`). `culprit` is the option that is right for the negative question in the disambiguated context,
    `other` for the other question; of `unknown` items take one in turn. `stereotyped` are the groups that the
    stereotype, `category`, is about, `statement` that of a survey that it was made of, and `line`, from 1, its place in
    its file.
    """

    id: str
    version: str
    category: str
    fillers: Mapping[str, tuple[str, ...]]
    texts: Mapping[str, Text]
    culprit: Option
    other: Option
    unknown: tuple[str, ...]
    stereotyped: tuple[str, ...]
    author: str = ""
    statement: str = ""
    line: int = field(default=0, compare=False)

    @property
    def n_fillings(self) -> int:
        """Number of ways to fill the slots."""
        return prod(len(fillers) for fillers in self.fillers.values())

    @property
    def target(self) -> Option | None:
        """The option of a stereotyped group; None where both are of one, or neither."""
        hit = [party for party in (self.culprit, self.other) if set(party.groups) & set(self.stereotyped)]
        return hit[0] if len(hit) == 1 else None

    @property
    def all_texts(self) -> dict[str, Text]:
        """All its texts by what they are, those of the options too."""
        return {**self.texts, "culprit": self.culprit.text, "other": self.other.text}


def template_faults(template: Template) -> Iterator[str]:
    """Yield the faults that would make a template give no items, or items without a meaning."""
    declared = list_first(list(template.fillers), SHOWN) or "none"
    for name, text in template.all_texts.items():
        for blank in _blanks(text):
            if (fillers := template.fillers.get(blank.slot)) is None:
                yield f"{name}: slot `{blank.slot}` is not declared; declared: {declared}"
            elif len(blank.forms) != len(fillers):
                yield f"{name}: slot `{blank.slot}` has {len(blank.forms)} forms for {len(fillers)} fillers"
    yield from (f"slot `{slot}` has no fillers" for slot, fillers in template.fillers.items() if not fillers)
    used = {blank.slot for text in template.all_texts.values() for blank in _blanks(text)}
    yield from (f"slot `{slot}` is declared and not used" for slot in template.fillers if slot not in used)
    yield from (f"{name} is empty" for name, text in template.all_texts.items() if not any(text))
    if not template.unknown:
        yield "there is no option for what cannot be known"
    if template.target is None:
        both = set(template.culprit.groups) & set(template.stereotyped)
        which = "both options are" if both else "no option is"
        groups = sorted(", ".join(of.groups) or "none" for of in (template.culprit, template.other))  # of any version
        yield (
            f"{which} of a stereotyped group ({', '.join(template.stereotyped) or 'none'}); their groups: "
            f"{groups[0]} and {groups[1]}; expected one"
        )


def _blanks(text: Text) -> Sequence[Blank]:
    return [part for part in text if isinstance(part, Blank)]


def first_filling(template: Template) -> str:
    """A template with its first fillers: the disambiguated context, and both questions."""
    parts = (part for name in TEXTS for part in (*template.texts[name], " "))
    return " ".join("".join(part.forms[0] if isinstance(part, Blank) else part for part in parts).split())


def review_text(template: Template) -> str:
    """A template as its reviewers read it: its texts with slots in braces, and below them what is put there."""
    names = {"Context": "ambiguous", "Then": "disambiguating", "Question": "negative", "Other question": "non_negative"}
    paragraphs = [f"Statement: {template.statement}"] if template.statement else []
    paragraphs += [f"{name}: {_with_slots(template.texts[of], template.fillers)}" for name, of in names.items()]
    options = [_with_slots(party.text, template.fillers) for party in (template.culprit, template.other)]
    paragraphs.append(f"Options: {' / '.join((*options, template.unknown[0]))}")
    paragraphs.append(f"Stereotyped: {', '.join(template.stereotyped)}")
    slots = [f"{{{slot}}}: {', '.join(of)}" for slot, of in template.fillers.items() if len(of) > 1]
    return "\n".join([*paragraphs, *slots])


def _with_slots(text: Text, fillers: Mapping[str, tuple[str, ...]]) -> str:
    """A text with its slots in braces; one of a single filler as that, since it cannot be read otherwise."""
    shown = {slot: f"{{{slot}}}" for slot, of in fillers.items() if len(of) > 1}
    parts = (part if isinstance(part, str) else shown.get(part.slot, part.forms[0]) for part in text)
    return " ".join("".join(parts).split())


def coinciding_options(templates: Iterable[Template], place: str) -> Iterator[Finding]:
    """A finding for each template two of whose options read the same with some fillers, but for capitals and spaces.

    Only the slots of the options are filled. Of what says that it cannot be known, every text is held against both
    options, whichever of them an item takes. The templates have no `faults`; findings call their file `place`.
    """
    for template in templates:
        if (chosen := _find_alike(template)) is not None:
            fillers = "; ".join(f"{slot}={template.fillers[slot][at]}" for slot, at in chosen.items())
            example = f", for instance with {fillers}" if fillers else ""
            yield Finding(place, template.line, f"options coincide{example}")


def _find_alike(template: Template) -> Chosen | None:
    """The first fillers with which two options read the same; None where they never do."""
    unknown = set(map(_fold, template.unknown))
    culprit, other = template.culprit.text, template.other.text
    shared = [slot for slot in _slots(culprit) if slot in _slots(other)]
    chosen_by_key: dict[tuple[str, ...], Chosen] = {}
    for is_other, text in enumerate((culprit, other)):
        slots = _slots(text)
        for numbers in product(*(range(len(template.fillers[slot])) for slot in slots)):  # the last changes first
            chosen = dict(zip(slots, numbers, strict=True))
            parts = (part.forms[chosen[part.slot]] if isinstance(part, Blank) else part for part in text)
            reading = _fold("".join(parts))
            key = (reading, *(str(chosen[slot]) for slot in shared))  # slots of both are to be filled the same
            if reading in unknown:
                return chosen
            if is_other and key in chosen_by_key:
                return {**chosen_by_key[key], **chosen}
            if not is_other:
                chosen_by_key.setdefault(key, chosen)
    return None


def _slots(text: Text) -> list[str]:
    return list(dict.fromkeys(blank.slot for blank in _blanks(text)))


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()


@dataclass(frozen=True)
class Items:
    """A row for each item with the columns COLUMNS, and what is wrong with some of them.

    `label` is the number of the right option, `target` that of the stereotyped group's, `unknown` that of the one which
    says that it cannot be known. `fillers` has what is put in the slots, as `slot=filler`, parted by a semicolon, and
    `item` is what is asked: context, question, and the options, each on a line and behind its letter. `statement` is
    the statement of a survey that the template was made of, empty where that is not said.
    """

    frame: pd.DataFrame
    findings: tuple[Finding, ...]


def n_items(template: Template) -> int:
    """Number of items that a template expands to."""
    return PER_FILLING * template.n_fillings


def n_templates(templates: Sequence[Template]) -> Counter[str]:
    """Count the templates of each category, all versions of one counted once."""
    return Counter(version.category for version in first_versions(templates))


def first_versions(templates: Sequence[Template]) -> list[Template]:
    """The first version of each template."""
    return list({(template.category, template.id): template for template in reversed(templates)}.values())[::-1]


def expand(templates: Sequence[Template], place: str, seed: int = 13, limit: int = LIMIT) -> Items:
    """Make all items of templates that have no `faults`; `findings`, in the file `place`, name those some of whose
    options coincide.

    Items are in the order of their templates, then of the fillings (the last slot changes first), the ambiguous context
    before the other, and the negative question before the other. The options of a filling are in an order drawn by
    `seed`, so that no place is better than another; its four items share the order, and the order of the templates
    changes none. An item's id is made of template, version and the numbers of its fillers, context and question. Raises
    InputError for all templates that would make more items than `limit`; none is made then.
    """
    findings = []
    for template in templates:
        if (n := n_items(template)) > limit:
            name = " ".join(filter(None, (f"`{template.id}`", template.version)))
            advice = "give its slots fewer fillers, or `fcpair items expand` a higher `--limit`"
            what = f"template {name} makes {n:,} items, but a template may make at most {limit:,}; {advice}"
            findings.append(Finding(place, template.line, what))
    reject(place, findings)
    rng = np.random.default_rng(seed)
    keys = [(template.category, template.id, template.version) for template in templates]
    expanded = {at: _expand_template(templates[at], rng) for at in sorted(range(len(keys)), key=keys.__getitem__)}
    columns = {name: np.concatenate([expanded[at][name] for at in range(len(templates))]) for name in COLUMNS}
    return Items(pd.DataFrame(columns), tuple(coinciding_options(templates, place)))


def _expand_template(template: Template, rng: np.random.Generator) -> dict[str, Strings | Ints]:
    sizes = [len(fillers) for fillers in template.fillers.values()]
    n = template.n_fillings
    each = np.array([prod(sizes[at + 1 :]) for at in range(len(sizes))], np.int64)[:, None]
    numbers = np.arange(n) // each % np.array(sizes, np.int64)[:, None]  # of each slot's filler; the last changes first
    at = dict(zip(template.fillers, numbers, strict=True))
    filled: dict[str, Strings] = {}  # of each text each filling, `(n,)`
    for name, text in template.all_texts.items():
        parts: Strings = np.full(n, "", dtype=object)
        for part in text:
            parts = parts + (np.array(part.forms, dtype=object)[at[part.slot]] if isinstance(part, Blank) else part)
        filled[name] = _single_spaced(parts)
    clear = _single_spaced(filled["ambiguous"] + " " + filled["disambiguating"])
    unknown = np.array(template.unknown, dtype=object)[np.arange(n) % len(template.unknown)]
    places = rng.permuted(np.tile(np.arange(N_OPTIONS), (n, 1)), axis=1)  # of the culprit, the other and unknown
    options = np.empty((n, N_OPTIONS), dtype=object)
    np.put_along_axis(options, places, np.stack([filled["culprit"], filled["other"], unknown], axis=1), axis=1)
    culprit, other, not_known = places.T
    ids: Strings = np.full(n, "-".join(filter(None, (template.id, template.version))), dtype=object)
    filler_texts: Strings = np.full(n, "", dtype=object)
    for i, ((slot, fillers), row) in enumerate(zip(template.fillers.items(), numbers, strict=True)):
        ids = ids + "-" + (row + 1).astype(str).astype(object)
        filler_texts = filler_texts + ("; " * bool(i) + f"{slot}=") + np.array(fillers, dtype=object)[row]
    columns: dict[str, list[Strings | Ints]] = {
        "item_id": [ids + f"-{context}-{polarity}" for context, polarity in FOUR],
        "context": [filled["ambiguous"], filled["ambiguous"], clear, clear],
        "question": [filled["negative"], filled["non_negative"]] * 2,
        "label": [not_known, not_known, culprit, other],
        "target": [culprit if template.target is template.culprit else other] * PER_FILLING,
        "unknown": [not_known] * PER_FILLING,
        "fillers": [filler_texts] * PER_FILLING,
        **{f"option_{i}": [options[:, i]] * PER_FILLING for i in range(N_OPTIONS)},
    }
    alternating = {name: np.stack(four, axis=1).ravel() for name, four in columns.items()}
    of_four = np.tile(np.array(FOUR, dtype=object), (n, 1))
    size = PER_FILLING * n
    same = {name: np.full(size, getattr(template, of), dtype=object) for name, of in _TEMPLATE_COLUMNS.items()}
    items: Strings = alternating["context"].astype(object) + "\n" + alternating["question"].astype(object)
    for i, letter in enumerate(LETTERS):
        items = items + f"\n{letter}. " + alternating[f"option_{i}"].astype(object)
    asked = {"item": items, "context_condition": of_four[:, 0], "question_polarity": of_four[:, 1]}
    return {**alternating, **same, **asked}


def _single_spaced(texts: Strings) -> Strings:
    return np.array([" ".join(text.split()) for text in texts], dtype=object)
