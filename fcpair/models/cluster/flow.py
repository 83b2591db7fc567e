"""Handing work to a cluster a little at a time, so that neither scheduler nor client ever holds all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from distributed import Client, Future

AHEAD = 3  # pieces of work that each worker has before it, so that none waits
Piece = TypeVar("Piece")


def run_pieces(
    client: Client, pieces: Iterable[Piece], submit: Callable[[Piece], Future[Any]]
) -> Iterator[tuple[Piece, Any]]:
    """Submit each piece, and yield it with its result as soon as that is there, in whatever order that is.

    What a dead worker had is done again by another one.
    """
    from distributed import as_completed

    waiting, pieces = {}, iter(pieces)
    done = as_completed()

    def submit_more(n: int) -> None:
        for piece in islice(pieces, n):
            future = submit(piece)
            waiting[future.key] = piece
            done.add(future)

    submit_more(AHEAD * max(1, len(client.scheduler_info(n_workers=-1)["workers"])))
    for future in done:
        result = future.result()
        yield waiting.pop(future.key), result
        future.release()
        submit_more(1)
