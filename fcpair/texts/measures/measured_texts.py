"""The texts that are measured, with what stands beside each of them, and what measures of them share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.models.encode import Progress
from fcpair.stages.corpus.text_identity import NO_TEXT

T = TypeVar("T")


class TextTable:
    """Texts, the references of each (none where there are no references at all), and further columns by their names.

    What several measures need, such as the vectors of a model, is computed once.

    Raises:
        InputError: a string where a list belongs, anything but strings in a list, lists of different lengths.
    """

    def __init__(
        self,
        texts: Sequence[str],
        references: Sequence[Sequence[str]] | None = None,
        beside: Mapping[str, Sequence[str]] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.texts = _check_strings("texts", texts)
        self.references = None if references is None else _check_lists(references, len(self.texts))
        self.beside = {
            name: _check_strings(f"beside[{name!r}]", column, len(self.texts))
            for name, column in (beside or {}).items()
        }
        self.progress = progress
        self._cache: dict[Hashable, Any] = {}

    def compute_once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` gives, calling it only the first time."""
        if key not in self._cache:
            self._cache[key] = make()
        value: T = self._cache[key]
        return value

    def distinct_texts(self) -> list[str]:
        """All distinct texts and references, in the order in which they stand."""
        listed = [reference for of in self.references or () for reference in of]
        return list(dict.fromkeys([*self.texts, *listed]))

    def token_vectors(self, name: str) -> dict[str, NDArray[np.float32]]:
        """The unit vectors of the tokens of every text and reference by the encoder of that name, by the text."""
        from fcpair.models.token_vectors import token_vectors

        def encode_all() -> dict[str, NDArray[np.float32]]:
            texts = self.distinct_texts()
            return dict(zip(texts, token_vectors(texts, name, self.progress), strict=True))

        return self.compute_once(("tokens", name), encode_all)

    def cut_notes(self, name: str, texts: Sequence[str]) -> tuple[str, ...]:
        """The note on how many of these texts are longer than the encoder of that name reads, if there are any."""
        from fcpair.models.encode import count_cut
        from fcpair.models.model_files import resolve

        return self.compute_once(("cut", name, len(texts)), lambda: count_cut(texts, resolve(name)).notes)


def _check_strings(place: str, texts: Sequence[str], n: int | None = None) -> tuple[str, ...]:
    if isinstance(texts, str):
        raise InputError(f"{place} is a string; expected a list of texts: its single characters would be measured")
    listed = tuple(texts)
    for at, text in enumerate(listed):
        if not isinstance(text, str):
            raise InputError(f"{place}[{at}] is {type(text).__name__}; expected a string")
        if NO_TEXT.search(text):
            raise InputError(
                f"{place}[{at}] has a NUL character or half a surrogate pair, which a text may not contain"
            )
    if n is not None and len(listed) != n:
        raise InputError(f"{place} has {len(listed):,} entries for {n:,} texts; expected one for each")
    return listed


def _check_lists(references: Sequence[Sequence[str]], n: int) -> tuple[tuple[str, ...], ...]:
    if isinstance(references, str):
        raise InputError("references is a string; expected a list of references for each text")
    listed = list(references)
    if len(listed) != n:
        raise InputError(f"references has {len(listed):,} entries for {n:,} texts; expected one list for each")
    for at, of in enumerate(listed):
        if isinstance(of, str):
            raise InputError(
                f"references[{at}] is a string; expected a list of references, such as [{of[:20]!r}]: its single "
                "characters would be taken for references"
            )
    return tuple(_check_strings(f"references[{at}]", of) for at, of in enumerate(listed))
