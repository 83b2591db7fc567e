"""Signed sessions: what a cookie says, and the token that guards the forms sent with it."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from itsdangerous import BadData, URLSafeTimedSerializer

from fcpair.records import Visitor

MAX_AGE_S = 30 * 24 * 3600


@dataclass(frozen=True)
class Session:
    """Whose session it is, a fingerprint of the key that they had when it began, and what tells it from others."""

    person_id: int
    fingerprint: str
    id: str


class Sessions:
    """Makes and reads sessions with a secret.

    The cookie's name comes from `named_for`, so that it stays the same when the secret is renewed.
    """

    def __init__(self, secret: str, named_for: str | None = None) -> None:
        self.secret = secret
        signer = {"digest_method": hashlib.sha256}
        self._serializer = URLSafeTimedSerializer(secret, salt="fcpair.session", signer_kwargs=signer)
        # Cookies do not know ports: two studies on one machine must not end each other's sessions.
        self.cookie = f"fcpair_{_digest(secret if named_for is None else named_for, 'cookie', '')[:8]}"

    def begin(self, visitor: Visitor) -> str:
        """The value of the cookie of a new session; no two are alike."""
        fingerprint = _digest(self.secret, "key", visitor.key)
        value: str = self._serializer.dumps([visitor.id, fingerprint, secrets.token_urlsafe(9)])
        return value

    def read(self, value: str) -> Session | None:
        """The session that a cookie stands for; None when it is not one of ours, or too old."""
        try:
            person_id, fingerprint, session_id = self._serializer.loads(value, max_age=MAX_AGE_S)
        except BadData:
            return None
        return Session(person_id, fingerprint, session_id)

    def belongs(self, session: Session, visitor: Visitor) -> bool:
        """Whether the person still has the key with which the session began."""
        return hmac.compare_digest(session.fingerprint, _digest(self.secret, "key", visitor.key))

    def csrf(self, value: str) -> str:
        """The token that forms of the session with this cookie carry."""
        return _digest(self.secret, "csrf", value)


def _digest(secret: str, purpose: str, value: str) -> str:
    return hmac.new(secret.encode(), f"fcpair.{purpose}:{value}".encode(), hashlib.sha256).hexdigest()
