"""Systems that ask a service ask the one of the models' tests."""

from __future__ import annotations

from models.conftest import answers, served, waits

__all__ = ["answers", "served", "waits"]
