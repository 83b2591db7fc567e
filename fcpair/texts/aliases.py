"""Labels as people spell them: cells that hold several, a declared list, and a table of the spellings that are meant.

Two spellings are the same by `folded`: capitals, accents and other marks, zero-width signs, kashida, the Arabic forms
of yeh and kaf, hyphens and other punctuation, white space, and the plural -s of a Latin word make no difference.
Whatever else differs is another spelling: it is taken for a label only where a table says so, which a person has
checked.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from fcpair.errors import Finding, InputError, nearest, reject
from fcpair.files.tables.tabular import LINE, place_of, read_table
from fcpair.texts.label_cells import labels_in

SPELLING, LABEL, TIMES = "spelling", "label", "n"
_PERSIAN = str.maketrans({"ي": "ی", "ى": "ی", "ك": "ک", "ـ": None})
_PARTS = re.compile(r"[^\w]+|_+")
_PLURAL = re.compile(r"(?<=[a-z]{3})(?<!s)s$")

Labels = tuple[str, ...]


def folded(spelling: str) -> str:
    """What two spellings of the same label have in common: words, parted by a space; empty where there are none."""
    decomposed = unicodedata.normalize("NFKD", spelling.translate(_PERSIAN)).casefold()
    kept = "".join(sign for sign in decomposed if unicodedata.category(sign) not in ("Mn", "Cf"))
    return " ".join(_PLURAL.sub("", word) for word in _PARTS.split(kept) if word)


def spellings_in(cell: str) -> list[str]:
    """The labels of a cell as they are spelt (`labels_in`), without what has no letter or digit."""
    return [one for one in labels_in(cell) if folded(one)]


@dataclass(frozen=True)
class Aliases:
    """What each spelling stands for.

    Attributes:
        labels: the declared labels, in their order; without any, every spelling is a label of its own, called by the
            form that is most frequent.
        table: what spellings stand for that are no form of a declared label, by their folded form; `""` stands for an
            empty cell and may have no label.

    Raises:
        InputError: a label without a letter or digit, with a separator, or that is the same as another when folded.
    """

    labels: Labels = ()
    table: Mapping[str, Labels] = field(default_factory=dict)

    def __post_init__(self) -> None:
        forms = Counter(map(folded, self.labels))
        for label in self.labels:
            if not folded(label) or spellings_in(label) != [label.strip()]:
                raise InputError(f"label `{label}`: expected a name with a letter or digit, without comma or semicolon")
            if forms[folded(label)] > 1:
                same = " and ".join(f"`{one}`" for one in self.labels if folded(one) == folded(label))
                raise InputError(f"labels {same} are spellings of the same; declare one")

    @property
    def is_declared(self) -> bool:
        """Whether it is known which labels there are."""
        return bool(self.labels)

    def read(self, cells: Sequence[str], lines: Sequence[int], place: str) -> list[Labels]:
        """The labels of each cell, in its order.

        Raises:
            InputError: with the line of each cell that holds a spelling which is not known (the nearest known label is
                named), or a label twice; and, where labels are declared, of each that is empty, unless the table says
                that a cell may be.
        """
        spelt, wrong = _spelt(cells)
        known = self._known(spelt[cell] for cell in cells if cell in spelt)
        wrong |= {cell: message for cell, own in spelt.items() if (message := list(self._wrong(own, known)))}
        findings = [
            Finding(place, int(line), message)
            for cell, line in zip(cells, lines, strict=True)
            for message in wrong.get(cell, ())
        ]
        reject(place, findings)
        meant = {cell: tuple(label for one in own for label in known[folded(one)]) for cell, own in spelt.items()}
        return [meant[cell] for cell in cells]

    def _known(self, spelt: Iterable[list[str]]) -> dict[str, Labels]:
        if not self.is_declared:
            forms: dict[str, Counter[str]] = {}
            for spelling, n in Counter(one for cell in spelt for one in cell).items():
                forms.setdefault(folded(spelling), Counter())[spelling] += n
            return {form: (max(sorted(spelt), key=lambda one: spelt[one]),) for form, spelt in forms.items()}
        return {**self.table, **{folded(label): (label,) for label in self.labels}}

    def _wrong(self, spelt: Sequence[str], known: Mapping[str, Labels]) -> Iterable[str]:
        if not spelt and self.is_declared and "" not in known:
            yield "no label; expected at least one"
        for spelling in spelt:
            if folded(spelling) not in known:
                yield f"unknown label `{spelling}`; {self._hint(spelling)}"
        meant = Counter(label for one in spelt for label in known.get(folded(one), ()))
        for label in (label for label, n in meant.items() if n > 1):
            yield f"label `{label}` is given twice"

    def _hint(self, spelling: str) -> str:
        meant = self.proposed(spelling)
        return f"did you mean `{', '.join(meant)}`?" if meant else nearest(spelling, self.labels)

    def proposed(self, spelling: str) -> Labels:
        """The labels that a spelling may stand for; none where no label is near.

        A known spelling has its own. Else: labels that are written one after the other without a separator, the only
        label that begins with these words, the nearest one (`difflib`, ratio of at least 0.6), or the only one that
        has all words of the spelling, or all of whose words the spelling has (`consequences` is `warning of
        consequences`).
        """
        known = self._known(())
        form = folded(spelling)
        if form in known:
            return known[form]
        begun = [label for one, label in known.items() if one.startswith(f"{form} ")]
        if len(begun) == 1:
            return begun[0]
        near = get_close_matches(form, [one for one in known if one], 1)
        within = [label for one, label in known.items() if one and _is_within(set(one.split()), set(form.split()))]
        return (
            _run_together(form.split(), known)
            or (known[near[0]] if near else ())
            or (within[0] if len(within) == 1 else ())
        )

    def listed(self, cells: Iterable[str]) -> list[dict[str, str | int]]:
        """Every spelling in the cells, how many times it is there, and the label proposed; the most frequent first.

        An empty cell is an empty spelling. What has an empty label, because none is near, is to be filled in by hand.
        """
        found = Counter(one for cell in cells for one in spellings_in(cell) or [""])
        return [
            {SPELLING: spelling, LABEL: ", ".join(self.proposed(spelling) if spelling else ()), TIMES: n}
            for spelling, n in sorted(found.items(), key=lambda item: (-item[1], item[0]))
        ]


def _is_within(one: set[str], other: set[str]) -> bool:
    return bool(one and other) and (one <= other or other <= one)


def _spelt(cells: Iterable[str]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The labels of each distinct cell as they are spelt, and of those that cannot be read why."""
    spelt: dict[str, list[str]] = {}
    wrong: dict[str, list[str]] = {}
    for cell in dict.fromkeys(cells):
        try:
            spelt[cell] = spellings_in(cell)
        except InputError as error:
            wrong[cell] = [str(error)]
    return spelt, wrong


def _run_together(words: Sequence[str], known: Mapping[str, Labels]) -> Labels:
    """The labels that these words are, one after the other; none where they are not."""
    if not words:
        return ()
    for end in range(len(words), 0, -1):
        first = known.get(" ".join(words[:end]), ())
        rest = _run_together(words[end:], known)
        if first and (rest or end == len(words)):
            return first + rest
    return ()


def read_aliases(path: str | Path, labels: Sequence[str] = ()) -> Aliases:
    """Read a table with the columns `spelling` and `label`; a label may be several, separated by commas.

    `labels` are those that are declared; without them they are the labels of the table, in its order. A row whose
    spelling and label are both empty says that a cell may be empty.

    Raises:
        InputError: a spelling without a label or with two meanings, a label that is not declared; with lines.
    """
    frame = read_table(path, (SPELLING, LABEL))
    declared = Aliases(tuple(labels) or _first_forms(frame[LABEL]))
    own = {folded(label): label for label in declared.labels}
    table: dict[str, Labels] = {}
    findings: list[Finding] = []
    for spelling, label, line in zip(frame[SPELLING], frame[LABEL], frame[LINE], strict=True):
        form, meant = folded(spelling), [folded(one) for one in spellings_in(label)]
        unknown = [one for one in spellings_in(label) if folded(one) not in own]
        stands = tuple(own[one] for one in meant if one in own)
        wrong = _wrong_row(spelling, unknown, stands, table.get(form, stands), declared, own.get(form))
        findings += [Finding(place_of(frame), int(line), message) for message in wrong]
        table[form] = stands
    reject(place_of(frame), findings)
    return Aliases(declared.labels, table)


def _wrong_row(
    spelling: str, unknown: Sequence[str], stands: Labels, before: Labels, declared: Aliases, own: str | None
) -> Iterable[str]:
    for one in unknown:
        yield f"unknown label `{one}`; {nearest(one, declared.labels)}"
    if not stands and not unknown and spelling.strip():
        yield f"spelling `{spelling}` has no label; fill in what it stands for"
    if stands != before:
        yield f"spelling `{spelling}` stands for `{', '.join(before)}` in an earlier row"
    if own and stands and stands != (own,):
        yield f"spelling `{spelling}` is label `{own}` itself; it cannot stand for `{', '.join(stands)}`"


def _first_forms(cells: Iterable[str]) -> Labels:
    forms: dict[str, str] = {}
    for label in (one for cell in cells for one in spellings_in(cell)):
        forms.setdefault(folded(label), label)
    return tuple(forms.values())
