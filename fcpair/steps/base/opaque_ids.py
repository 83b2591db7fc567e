"""Numbers that tell nothing, for pages and API: a number that counts what others do is for a lead alone."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from functools import lru_cache, partial
from hashlib import blake2b

_HALF = 26  # bits
_HALF_OF_CELL = 16  # bits, as a number of a cell has 32
_CELLS = 1 << 2 * _HALF_OF_CELL
_PLAIN_ASSIGNMENTS = 1 << 52  # are no higher; those that are encrypted are
_HALF_OF_ASSIGNMENT = 25  # bits: no number that clients are given is above 2^53
_ROUNDS = 4


class OpaqueIds:
    """Draws numbers from a secret, alike each time: from 1 to 2^52, so that every JSON client reads them exactly."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        self.encrypt_assignment, self.decrypt_assignment = (
            partial(compute, self._secret) for compute in (_encrypt_assignment, _decrypt_assignment)
        )

    def _digest(self, *parts: object) -> int:
        message = ":".join(map(str, ("fcpair.opaque", *parts))).encode()
        return int.from_bytes(hmac.digest(self._secret, message, "sha256"))

    def digest_id(self, purpose: str, *parts: object) -> int:
        """The number that stands for these parts; from it alone nobody can tell them, nor whether two share one."""
        return 1 + (self._digest(purpose, *parts) & (1 << 2 * _HALF) - 1)

    def encrypt(self, purpose: str, number: int, half: int = _HALF) -> int:
        """The number for one from 1 to 2^52 (2 x `half` bits), by four Feistel rounds (doi:10.1137/0217022)."""
        return _permute(partial(self._digest, purpose), number, half)

    def decrypt(self, purpose: str, encrypted: int, half: int = _HALF) -> int:
        """The number that `encrypt` was given; any other where `encrypted` is none of its, 0 where it cannot be one."""
        return _invert(partial(self._digest, purpose), encrypted, half)

    def encrypt_cell(self, number: int) -> int:
        """Encrypt the number of a cell whose column must stay hidden in ten digits, which every spreadsheet keeps."""
        return _CELLS + self.encrypt("cell", number, _HALF_OF_CELL)

    def decrypt_cell(self, number: int) -> int:
        """The number of a cell that `encrypt_cell` may have hidden; the same number where it can have hidden none."""
        decrypted = self.decrypt("cell", number - _CELLS, _HALF_OF_CELL) if number > _CELLS else 0
        return decrypted or number


def _digest_half(secret: bytes, round_: int, half: int) -> int:
    """A digest in a fifth of the time of `hmac`: each answer needs several."""
    return int.from_bytes(blake2b(b"%d:%d" % (round_, half), key=secret, digest_size=8, person=b"assignment").digest())


def _permute(digest: Callable[[int, int], int], number: int, half: int) -> int:
    left, right = divmod(number - 1, 1 << half)
    for round_ in range(_ROUNDS):
        left, right = right, left ^ digest(round_, right) & (1 << half) - 1
    return 1 + (left << half | right)


def _invert(digest: Callable[[int, int], int], encrypted: int, half: int) -> int:
    left, right = divmod(encrypted - 1, 1 << half)
    if left > (1 << half) - 1:
        return 0
    for round_ in reversed(range(_ROUNDS)):
        left, right = right ^ digest(round_, left) & (1 << half) - 1, left
    return 1 + (left << half | right)


@lru_cache(maxsize=500)  # a client asks for the same ones again and again
def _encrypt_assignment(secret: bytes, number: int) -> int:
    """Encrypt the number of an assignment, which says when it was made; the result is above all that these have."""
    encrypted = _PLAIN_ASSIGNMENTS + _permute(partial(_digest_half, secret), number, _HALF_OF_ASSIGNMENT)
    _decrypt_assignment(secret, encrypted)  # before the answer comes, which has to be quick
    return encrypted


@lru_cache(maxsize=500)
def _decrypt_assignment(secret: bytes, encrypted: int) -> int:
    """The number of an assignment that was encrypted; 0, which none has, where that is no encrypted number."""
    if encrypted <= _PLAIN_ASSIGNMENTS:
        return 0
    return _invert(partial(_digest_half, secret), encrypted - _PLAIN_ASSIGNMENTS, _HALF_OF_ASSIGNMENT)
