"""WordNet in a folder of the user's, read by nltk."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from warnings import catch_warnings
from weakref import finalize


def open_wordnet(folder: Path) -> Any:
    """A reader of the WordNet in a folder, wherever that is; what nltk raises says that there is none.

    nltk reads only below the folders of its data path, so this one is added to them. Its reader would also map what it
    reads to the WordNet that other languages were made for, and fail where that is not installed as nltk's own.
    """
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class OneLanguage(WordNetCorpusReader):  # type: ignore[misc]
        def map_wn(self, version: str = "wordnet") -> None:
            """Nothing: other languages are not asked for."""

    named = str(folder.resolve())
    if named not in nltk.data.path:
        nltk.data.path.append(named)
    with catch_warnings(action="ignore"):  # that there are no other languages
        reader = OneLanguage(named, None)
    finalize(reader, _close, reader._data_file_map)  # nltk keeps its files open, and never closes them
    reader.synsets("word")
    return reader


def _close(files: dict[str, Any]) -> None:
    for file in files.values():
        file.close()
