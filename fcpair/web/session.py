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
    """Whose session it is, and a fingerprint of the key that the person had when it began."""

    person_id: int
    fingerprint: str


class Sessions:
    """Makes and reads sessions with the study's secret."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        signer = {"digest_method": hashlib.sha256}
        self._serializer = URLSafeTimedSerializer(secret, salt="fcpair.session", signer_kwargs=signer)
        # Cookies do not know ports: two studies on one machine must not end each other's sessions.
        self.cookie = f"fcpair_{self._digest('cookie', '')[:8]}"

    def _digest(self, purpose: str, value: str) -> str:
        return hmac.new(self._secret, f"fcpair.{purpose}:{value}".encode(), hashlib.sha256).hexdigest()

    def begin(self, visitor: Visitor) -> str:
        """The value of the cookie of a new session; no two are alike."""
        value: str = self._serializer.dumps([visitor.id, self._digest("key", visitor.key), secrets.token_urlsafe(9)])
        return value

    def read(self, value: str) -> Session | None:
        """The session that a cookie stands for; None when it is not one of ours, or too old."""
        try:
            person_id, fingerprint, _ = self._serializer.loads(value, max_age=MAX_AGE_S)
        except BadData:
            return None
        return Session(person_id, fingerprint)

    def belongs(self, session: Session, visitor: Visitor) -> bool:
        """Whether the person still has the key with which the session began."""
        return hmac.compare_digest(session.fingerprint, self._digest("key", visitor.key))

    def csrf(self, value: str) -> str:
        """The token that forms of the session with this cookie carry."""
        return self._digest("csrf", value)
