"""Labels as people spell them: cells that hold several, a declared list, and a table of the spellings that are meant.

Two spellings are the same by `fold_spelling`: capitals, accents and other marks, zero-width signs, kashida, the Arabic
forms of yeh and kaf, hyphens and other punctuation, white space, and the plural -s of a Latin word make no difference.
Whatever else differs is taken for a label only where a table says so, which a person has checked.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from fcpair.errors import Finding, InputError, reject, suggest_name
from fcpair.files.tables.tabular import LINE, place_of, read_cells, read_table
from fcpair.stages.corpus.text_identity import NO_TEXT
from fcpair.stages.questions.closed import MOST_CHOICES
from fcpair.values import parse_json

_SEPARATOR = re.compile(r"\s*[,;،؛]\s*|\s*[\r\n]+\s*")
_SHOWN = 60  # characters of a cell that cannot be read
SPELLING, LABEL, TIMES = "spelling", "label", "n"
_PERSIAN = str.maketrans({"ي": "ی", "ى": "ی", "ك": "ک", "ـ": None})
_PARTS = re.compile(r"[^\w]+|_+")
_PLURAL = re.compile(r"(?<=[a-z]{3})(?<!s)s$")

Labels = tuple[str, ...]


def split_cell(cell: str) -> list[str]:
    """Split a cell into its parts as they are written: those of a JSON list, or those between comma, semicolon (Latin
    or Persian) and line break. Parts may be empty, and an empty cell has none.

    Raises InputError where it begins as a list does, and is not a JSON list of texts.
    """
    if not (cell := cell.strip()):
        return []
    if not cell.startswith("["):
        return _SEPARATOR.split(cell)
    try:
        listed = parse_json(cell)
    except (ValueError, RecursionError):
        raise InputError(f"`{cell[:_SHOWN]}` is not a JSON list") from None
    if not all(isinstance(item, str) and not NO_TEXT.search(item) for item in listed):
        raise InputError(f"`{cell[:_SHOWN]}` is not a list of texts")
    return [item.strip() for item in listed]


def fold_spelling(spelling: str) -> str:
    """Fold a spelling into what all of the same label share: words, separated by a space; empty where it has none."""
    decomposed = unicodedata.normalize("NFKD", spelling.translate(_PERSIAN)).casefold()
    kept = "".join(sign for sign in decomposed if unicodedata.category(sign) not in ("Mn", "Cf"))
    return " ".join(_PLURAL.sub("", word) for word in _PARTS.split(kept) if word)


def spellings_in(cell: str) -> list[str]:
    """The labels of a cell as they are spelt (`split_cell`), without what has no letter or digit."""
    return [part for part in split_cell(cell) if fold_spelling(part)]


@dataclass(frozen=True)
class Aliases:
    """Labels that each spelling stands for.

    `labels` are the declared ones, in their order; without any, every spelling is a label of its own, called by the
    form that is most frequent. `table` says by their folded form what spellings stand for that are no form of a
    declared label; `""` stands for an empty cell and may have no label. Raises InputError for a label without a letter
    or digit, with a separator, or that is the same as another when folded.
    """

    labels: Labels = ()
    table: Mapping[str, Labels] = field(default_factory=dict)

    def __post_init__(self) -> None:
        forms = Counter(map(fold_spelling, self.labels))
        for label in self.labels:
            if not fold_spelling(label) or spellings_in(label) != [label.strip()]:
                raise InputError(f"label `{label}`: expected a name with a letter or digit, without comma or semicolon")
            if forms[fold_spelling(label)] > 1:
                same = " and ".join(
                    f"`{spelling}`" for spelling in self.labels if fold_spelling(spelling) == fold_spelling(label)
                )
                raise InputError(f"labels {same} are spellings of the same; declare one")

    def read(self, cells: Sequence[str], lines: Sequence[int], place: str) -> list[Labels]:
        """The labels of each cell, in its order.

        Raises InputError where no label is declared and there are more than MOST_CHOICES; or, with the line of each
        cell, it holds a spelling which is not known (the nearest known label is named) or a label twice, or it is empty
        where labels are declared and the table does not say that a cell may be.
        """
        findings, unread = list[Finding](), list[str]()
        spelt = read_cells(cells, lines, place, spellings_in, findings, unread)
        if len(labels_by_form := self._labels_by_form(spelt)) > MOST_CHOICES:
            raise InputError(
                f"{place}: the column of labels has {len(labels_by_form):,} different ones; expected at most "
                f"{MOST_CHOICES:,}. Is it the right column?"
            )
        spelt_by_cell = {cell: own for cell, own in zip(cells, spelt, strict=True) if own is not unread}
        problems = {cell: list(self._problems(own, labels_by_form)) for cell, own in spelt_by_cell.items()}
        for cell, line in zip(cells, lines, strict=True):
            findings += [Finding(place, int(line), message) for message in problems.get(cell, ())]
        reject(place, findings)
        meant: dict[str, Labels] = {}
        for cell, own in spelt_by_cell.items():
            meant[cell] = tuple(label for spelling in own for label in labels_by_form[fold_spelling(spelling)])
        return [meant[cell] for cell in cells]

    def _labels_by_form(self, spelt: Iterable[list[str]]) -> dict[str, Labels]:
        if not self.labels:
            forms: dict[str, Counter[str]] = {}
            for spelling, n in Counter(part for cell in spelt for part in cell).items():
                forms.setdefault(fold_spelling(spelling), Counter())[spelling] += n
            return {form: (max(sorted(spelt), key=lambda one: spelt[one]),) for form, spelt in forms.items()}
        return {**self.table, **{fold_spelling(label): (label,) for label in self.labels}}

    def _problems(self, spelt: Sequence[str], labels_by_form: Mapping[str, Labels]) -> Iterable[str]:
        if not spelt and self.labels and "" not in labels_by_form:
            yield "no label; expected at least one"
        for spelling in spelt:
            if fold_spelling(spelling) not in labels_by_form:
                meant = self.propose(spelling)
                hint = f"did you mean `{', '.join(meant)}`?" if meant else suggest_name(spelling, self.labels)
                yield f"unknown label `{spelling}`; {hint}"
        counts = Counter(label for spelling in spelt for label in labels_by_form.get(fold_spelling(spelling), ()))
        for label in (label for label, n in counts.items() if n > 1):
            yield f"label `{label}` is given twice"

    def propose(self, spelling: str) -> Labels:
        """The labels that a spelling may stand for; none where no label is near.

        A known spelling has its own. Else: labels that are written one after the other without a separator, the only
        label that begins with these words, the nearest one (`difflib`, ratio of at least 0.6), or the only one that has
        all words of the spelling, or all of whose words the spelling has (`consequences` is `warning of consequences`).
        """
        labels_by_form, form = self._labels_by_form(()), fold_spelling(spelling)
        if form in labels_by_form:
            return labels_by_form[form]
        completions = [label for known_form, label in labels_by_form.items() if known_form.startswith(f"{form} ")]
        if len(completions) == 1:
            return completions[0]
        if run_together := _split_run_together(form.split(), labels_by_form):
            return run_together
        if near := get_close_matches(form, [known_form for known_form in labels_by_form if known_form], 1):
            return labels_by_form[near[0]]
        words, known = set(form.split()), [(set(of.split()), label) for of, label in labels_by_form.items() if of]
        within = [label for of, label in known if words and (of <= words or words <= of)]
        return within[0] if len(within) == 1 else ()

    def list_spellings(self, cells: Iterable[str]) -> list[dict[str, str | int]]:
        """Every spelling in the cells (an empty one for an empty cell), how many times it is there, and the label
        proposed, empty where none is near; the most frequent first.
        """
        counts = Counter(spelling for cell in cells for spelling in spellings_in(cell) or [""])
        return [
            {SPELLING: spelling, LABEL: ", ".join(self.propose(spelling) if spelling else ()), TIMES: n}
            for spelling, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        ]


def _split_run_together(words: Sequence[str], labels_by_form: Mapping[str, Labels]) -> Labels:
    if not words:
        return ()
    for end in range(len(words), 0, -1):
        first = labels_by_form.get(" ".join(words[:end]), ())
        rest = _split_run_together(words[end:], labels_by_form)
        if first and (rest or end == len(words)):
            return first + rest
    return ()


def read_aliases(path: str | Path, labels: Sequence[str] = ()) -> Aliases:
    """Read a table with the columns `spelling` and `label`; a label may be several, separated by commas.

    `labels` are those that are declared; without them they are the labels of the table, in its order. A row whose
    spelling and label are both empty says that a cell may be empty. Raises InputError for a spelling without a label or
    with two meanings, a label that is not declared; with lines.
    """
    frame = read_table(path, (SPELLING, LABEL), keep_empty=True)
    forms: dict[str, str] = {}  # of each label in the table the first
    for label in (spelling for cell in frame[LABEL] for spelling in spellings_in(cell)):
        forms.setdefault(fold_spelling(label), label)
    declared = Aliases(tuple(labels or forms.values()))
    label_by_form = {fold_spelling(label): label for label in declared.labels}
    table, findings = dict[str, Labels](), list[Finding]()
    for spelling, label, line in zip(frame[SPELLING], frame[LABEL], frame[LINE], strict=True):
        form, meant = fold_spelling(spelling), [fold_spelling(meaning) for meaning in spellings_in(label)]
        unknown = [spelling for spelling in spellings_in(label) if fold_spelling(spelling) not in label_by_form]
        stands = tuple(label_by_form[form_] for form_ in meant if form_ in label_by_form)
        problems = [f"unknown label `{spelling}`; {suggest_name(spelling, declared.labels)}" for spelling in unknown]
        if not stands and not unknown and spelling.strip():
            problems.append(f"spelling `{spelling}` has no label; fill in what it stands for")
        if stands != (before := table.get(form, stands)):
            problems.append(f"spelling `{spelling}` stands for `{', '.join(before)}` in an earlier row")
        if stands and form in label_by_form and stands != (own := (label_by_form[form],)):
            meaning = f"it cannot stand for `{', '.join(stands)}`"
            problems.append(f"spelling `{spelling}` is label `{own[0]}` itself; {meaning}")
        findings += [Finding(place_of(frame), int(line), message) for message in problems]
        table[form] = stands
    reject(place_of(frame), findings)
    return Aliases(declared.labels, table)
