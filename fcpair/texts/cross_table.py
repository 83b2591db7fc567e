"""Labels by group, where a text may have several labels and be about several groups: a table of types and targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fcpair.errors import Finding, InputError, reject
from fcpair.texts.label_cells import split_cell

Groups = tuple[str, ...]


@dataclass(frozen=True)
class CrossCount:
    """Number of texts of a group that have a label, of how many texts of that group."""

    label: str
    group: str
    n: int
    n_group: int

    @property
    def name(self) -> str:
        """Its name: `humour x women`."""
        return f"{self.label} x {self.group}"


def read_groups(cells: Sequence[str], lines: Sequence[int], place: str, none: str) -> list[Groups]:
    """The groups of each cell (`split_cell`), each once; `none` where there is none.

    Raises:
        InputError: with the line of each cell that cannot be read.
    """
    findings: list[Finding] = []
    read: list[Groups] = []
    for cell, line in zip(cells, lines, strict=True):
        try:
            read.append(tuple(dict.fromkeys(filter(None, split_cell(cell)))) or (none,))
        except InputError as error:
            findings.append(Finding(place, int(line), str(error)))
    reject(place, findings)
    return read


def cross_counts(
    labels: Sequence[Sequence[str]], names: Sequence[str], groups: Sequence[Groups]
) -> Iterator[CrossCount]:
    """Every group, the largest first, with every label; `labels` and `groups` are those of each text."""
    n_group = Counter(group for own in groups for group in own)
    n_both = Counter(
        (label, group) for own, of in zip(labels, groups, strict=True) for label in set(own) for group in of
    )
    for group, n in sorted(n_group.items(), key=lambda item: (-item[1], item[0])):
        yield from (CrossCount(label, group, n_both[label, group], n) for label in names)
