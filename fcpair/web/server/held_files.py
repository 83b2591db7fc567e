"""Files that leads have sent, or had made, held beside the study for a day, each in a folder of its own."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from time import time

from fcpair.errors import UnknownIdError
from fcpair.sentences import Sentence, say

HELD_S = 24 * 3600.0
LONGEST_NAME = 80
GONE = say("this file is not here any more; files are held for a day. Send it again")
_TOKEN = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class HeldFile:
    """A file that is held; beside it `users` may say which user of an annotation tool is which person."""

    path: Path

    @property
    def token(self) -> str:
        """By which addresses name it."""
        return self.path.parent.name

    @property
    def users(self) -> Path:
        """The table of users."""
        return self.path.parent / "users" / "people.csv"

    def discard(self) -> None:
        """Delete it."""
        shutil.rmtree(self.path.parent, ignore_errors=True)

    def hide_folder(self, sentence: str) -> str:
        """A sentence that calls the file by its name alone."""
        if not isinstance(sentence, Sentence):
            return sentence.replace(f"{self.path.parent}/", "")
        hidden = {name: self.hide_folder(of) for name, of in sentence.values.items() if isinstance(of, str)}
        return type(sentence)(sentence.template, {**sentence.values, **hidden}, sentence.many) if hidden else sentence


class HeldFiles:
    """The files of one kind that are held in a folder, which only its owner can read."""

    def __init__(self, uploads: Path, kind: str) -> None:
        self._folder = uploads / "held" / kind

    def new(self, name: str) -> HeldFile:
        """A file that is to be written; those whose time is over are deleted."""
        for old in self._folder.glob("*"):
            if time() - old.stat().st_mtime > HELD_S:
                shutil.rmtree(old, ignore_errors=True)
        folder = self._folder / token_hex(16)
        folder.mkdir(mode=0o700, parents=True)
        return HeldFile(folder / (re.sub(r"[^\w.-]+", "-", Path(name).name)[-LONGEST_NAME:].lstrip(".-") or "file"))

    def find(self, token: str) -> HeldFile:
        """The file of a token; raises UnknownIdError where it is not held any more."""
        folder = self._folder / token
        if _TOKEN.fullmatch(token) and folder.is_dir():
            for path in folder.iterdir():
                if path.is_file():
                    return HeldFile(path)
        raise UnknownIdError(GONE)

    def all(self) -> list[HeldFile]:
        """Those that are held, the newest first."""
        folders = sorted(self._folder.glob("*"), key=lambda folder: -folder.stat().st_mtime)
        return [HeldFile(path) for folder in folders for path in folder.iterdir() if path.is_file()]
