"""The messages of all pages, read from templates, scripts and code once a process, when a test asks for them."""

from __future__ import annotations

from functools import cache

from catalogues import extract


@cache
def all_messages() -> dict[tuple[str, str], list[str]]:
    """Where each message is: by itself and its plural, which is empty where it has none."""
    return extract()


@cache
def message_texts() -> frozenset[str]:
    """Each message, and each plural of one."""
    return frozenset(text for message in all_messages() for text in message if text)
