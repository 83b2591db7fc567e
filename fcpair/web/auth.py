"""Authentication: sessions, bearer tokens, roles, and the guard of the forms."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from fastapi import Request, Response
from itsdangerous import BadData, URLSafeTimedSerializer

from fcpair.errors import RefusedError, UnknownVisitorError
from fcpair.records import Role, Visitor
from fcpair.sentences import say
from fcpair.study import Access
from fcpair.web.form import field

MAX_AGE_S = 30 * 24 * 3600
REMEMBERED_S = 60.0
MOST_REMEMBERED = 10_000
_CALLER_KEY = "fcpair.caller"
PEOPLE = {
    Role.ANNOTATOR: say("annotators"),
    Role.VALIDATOR: say("validators"),
    Role.WRITER: say("writers"),
    Role.RATER: say("raters"),
    Role.RESPONDENT: say("respondents"),
    Role.ADJUDICATOR: say("adjudicators"),
    Role.MODEL: say("models"),
    Role.LEAD: say("the lead"),
}


@dataclass(frozen=True)
class _Caller:
    visitor: Visitor | None
    cookie: str | None  # the session's cookie, if that is what let the visitor in
    is_wrong: bool = False  # a token that lets nobody in came with the request, and was not counted yet
    session: str = ""  # the session by which the visitor came, or none


_NOBODY = _Caller(None, None)


class Auth:
    """Lets visitors in; what it finds out about a request, it finds out once."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._name = access.secret
        self._sessions = Sessions(access.session_secret, self._name)
        self._remembered: dict[bytes, tuple[float, _Caller]] = {}  # by what they came with, and until when

    def require_visitor(self, request: Request, roles: frozenset[Role], *, remembered: bool = False) -> Visitor:
        """The visitor, who must have one of the roles.

        Where they have to be `remembered`, from some moments ago with the same token or session, nothing is looked up:
        whoever acts for them looks whether they may still come in, see `Visitor.remembered`. Raises UnknownVisitorError
        where nobody is logged in, or remembered, RefusedError for another role, or a request from no page of ours.
        """
        if remembered:
            until, caller = self._remembered.get(_credentials(request), (0.0, _NOBODY))
            if until < monotonic():
                raise UnknownVisitorError
            request.scope[_CALLER_KEY] = caller
        else:
            caller = request.scope.get(_CALLER_KEY) or self._caller(request)
        if caller.visitor is None:
            raise UnknownVisitorError
        if caller.visitor.role not in roles:
            raise RefusedError.say("this is not for %(people)s", people=PEOPLE[caller.visitor.role])
        if caller.cookie is not None and request.method not in {"GET", "HEAD"}:
            sent, own = request.headers.get("x-csrf-token") or field(request, "csrf"), self.csrf_token(request)
            if not hmac.compare_digest(sent.encode("utf-8", "surrogatepass"), own.encode()):
                raise RefusedError.say(
                    "the form is out of date, or was not sent from a page of this study; load it again"
                )
        return caller.visitor

    def visitor(self, request: Request) -> Visitor | None:
        """Visitor who is logged in, if anybody; nothing is written, nor waited for."""
        return self._caller(request).visitor

    def forget_visitor(self, request: Request) -> None:
        """Remember whoever came with this request no more."""
        self._remembered.pop(_credentials(request), None)

    def forget_everybody(self) -> None:
        """Look up everybody anew: what they may do has changed."""
        self._remembered.clear()

    def forget_lookup(self, request: Request) -> None:
        """Take what is remembered of whoever sent a request for nothing: they are looked up when they are asked for."""
        request.scope.pop(_CALLER_KEY, None)

    def has_wrong_token(self, request: Request) -> bool:
        """Return whether a request came with a wrong token that was not counted yet."""
        return cast(_Caller, request.scope.get(_CALLER_KEY, _NOBODY)).is_wrong

    def visitor_counting_failures(self, request: Request) -> Visitor | None:
        """Visitor who is logged in, if anybody; a wrong token is counted, and TooManyError raised after too many."""
        caller = self._caller(request)
        if caller.is_wrong:
            self._access.attempts.count_failure(_client_address(request))
            request.scope[_CALLER_KEY] = _NOBODY
        return caller.visitor

    def cached_visitor(self, request: Request) -> Visitor | None:
        """Visitor who was let in with this request already, if anybody; nothing is looked up."""
        return cast(_Caller, request.scope.get(_CALLER_KEY, _NOBODY)).visitor

    def csrf_token(self, request: Request) -> str:
        """The token that the forms of this request's session carry; empty without a session."""
        cookie = self._caller(request).cookie
        return _digest(self._sessions.secret, "csrf", cookie) if cookie else ""

    def login_with_token(self, request: Request, token: str) -> Visitor | None:
        """The visitor whom a token lets in; None for a wrong one, which is counted: TooManyError after too many.

        A right token is let in whatever else came from its address: people share one.
        """
        visitor = self._access.by_token(token)
        if visitor is None:
            self._access.attempts.count_failure(_client_address(request))
        return visitor

    def open_session(self, request: Request, response: Response, visitor: Visitor) -> None:
        """Begin a session with the response's cookie."""
        self._refresh_secret(visitor.session_secret)
        self._set_cookie(request, response, self._sessions.make_cookie(visitor), MAX_AGE_S)

    def end_session(self, request: Request, response: Response) -> None:
        """End the session, copies of its cookie included, and clear the cookie."""
        cookie = self._caller(request).cookie
        if cookie and (session := self._sessions.parse_cookie(cookie)):
            self._access.end_session(session.person_id, session.id, MAX_AGE_S)
        self._set_cookie(request, response, "", 0)

    def _set_cookie(self, request: Request, response: Response, value: str, max_age: int) -> None:
        secure = request.url.scheme == "https"
        response.set_cookie(self._sessions.cookie, value, max_age, secure=secure, httponly=True, samesite="lax")

    def check_origin(self, request: Request) -> None:
        """Raise RefusedError for a form that a browser sends from another site; for forms outside any session."""
        site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
        foreign = site not in {"same-origin", "none"}
        if not site:  # such a browser may name another origin than the address it asks
            with suppress(ValueError):  # no origin that a browser sends
                foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host")
        if foreign:
            raise RefusedError.say("this form was not sent from a page of this study; open your invite link again")

    def _caller(self, request: Request) -> _Caller:
        if (known := request.scope.get(_CALLER_KEY)) is not None:
            return cast(_Caller, known)
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            visitor = self._access.by_token(token.strip())
            caller = _Caller(visitor, None, is_wrong=visitor is None)
        else:
            cookie = request.cookies.get(self._sessions.cookie)
            caller = self._caller_by_cookie(cookie) if cookie else _NOBODY
        request.scope[_CALLER_KEY] = caller
        if caller.visitor is not None and caller.visitor.consented:  # who has not will change that soon
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            visitor = replace(caller.visitor, remembered=caller.session)
            self._remembered[_credentials(request)] = monotonic() + REMEMBERED_S, replace(caller, visitor=visitor)
        return caller

    def _caller_by_cookie(self, cookie: str) -> _Caller:
        session = self._sessions.parse_cookie(cookie)
        visitor = self._access.by_id(session.person_id, session.id) if session else None
        if self._refresh_secret(visitor.session_secret if visitor else self._access.session_secret):
            return self._caller_by_cookie(cookie)
        if session is None or visitor is None or not self._sessions.has_key(session, visitor.key):
            return _NOBODY
        return _Caller(visitor, cookie, session=session.id)

    def _refresh_secret(self, secret: str) -> bool:
        """Sign and read sessions with the secret of now; whether it was another so far."""
        if secret == self._sessions.secret:
            return False
        self._sessions = Sessions(secret, self._name)
        return True

    def farewell(self, request: Request) -> str | None:
        """Reason for which whoever sends a request was dismissed, by their session; None for anybody else."""
        cookie = request.cookies.get(self._sessions.cookie)
        session = self._sessions.parse_cookie(cookie) if cookie else None
        left = self._access.farewell_of(session.person_id) if session else None
        return left[1] if session and left and self._sessions.has_key(session, left[0]) else None


def _credentials(request: Request) -> bytes:
    """A digest of what says who sent a request: nothing that could let anybody in is kept."""
    headers = [value for name, value in request.scope["headers"] if name in {b"authorization", b"cookie"}]
    return hashlib.sha256(b"\0".join(headers)).digest()


def is_known(scope: Mapping[str, Any]) -> bool:
    """Return whether a request was found to be from somebody of the study."""
    return cast(_Caller, scope.get(_CALLER_KEY, _NOBODY)).visitor is not None


def _client_address(request: Request) -> str:
    return request.client.host if request.client else ""


class Session(NamedTuple):
    """Whose session it is, a fingerprint of the key that they had when it began, and what tells it from others."""

    person_id: int
    fingerprint: str
    id: str


class Sessions:
    """Makes and reads sessions with a secret; the cookie is named for the first one, however often that is renewed."""

    def __init__(self, secret: str, named_for: str | None = None) -> None:
        self.secret = secret
        signer_kwargs = {"digest_method": hashlib.sha256}
        self._serializer = URLSafeTimedSerializer(secret, salt="fcpair.session", signer_kwargs=signer_kwargs)
        # Cookies do not know ports: two studies on one machine must not end each other's sessions.
        self.cookie = f"fcpair_{_digest(secret if named_for is None else named_for, 'cookie', '')[:8]}"

    def make_cookie(self, visitor: Visitor) -> str:
        """The value of the cookie of a new session; no two are alike."""
        fingerprint = _digest(self.secret, "key", visitor.key)
        return str(self._serializer.dumps([visitor.id, fingerprint, secrets.token_urlsafe(9)]))

    def parse_cookie(self, value: str) -> Session | None:
        """The session that a cookie stands for; None when it is not one of ours, or too old."""
        try:
            return Session(*self._serializer.loads(value, max_age=MAX_AGE_S))
        except BadData:
            return None

    def has_key(self, session: Session, key: str) -> bool:
        """Return whether a session began with this key."""
        return hmac.compare_digest(session.fingerprint, _digest(self.secret, "key", key))


def _digest(secret: str, purpose: str, value: str) -> str:
    return hmac.new(secret.encode(), f"fcpair.{purpose}:{value}".encode(), hashlib.sha256).hexdigest()
