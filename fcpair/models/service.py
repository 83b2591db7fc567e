"""Asking an OpenAI-compatible service over HTTP, with bounded retries.

The address is `OPENAI_BASE_URL`, the key `OPENAI_API_KEY` (a local server needs none), and `FCPAIR_TIMEOUT_S` the
seconds that one request may take. Nothing is asked of any address that was not set. The key goes into the request's
header and nowhere else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from time import sleep
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from fcpair.errors import ServiceError
from fcpair.models.cached_requests import BrokenReply, Prompt, Reply, cache_answer, quote_beginning, reported_model
from fcpair.models.http import ACCEPT_GZIP, Answer, TooLongError, post
from fcpair.values import is_blank, parse_json

if TYPE_CHECKING:
    from httpx2 import Client
    from tenacity import RetryCallState

T = TypeVar("T")
ATTEMPTS = 4
TIMEOUT_S = 60.0
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0  # a wait doubles from one attempt to the next, unless the service names one
LONGEST_ANSWER = 64_000_000  # bytes
SECRET_FROM = 6  # characters; a shorter key is a local server's placeholder
_SHOWN = 200
_SETTING = (
    "set OPENAI_BASE_URL to an OpenAI-compatible service, such as http://localhost:11434/v1 for a local server or "
    "https://api.openai.com/v1, and OPENAI_API_KEY where it needs a key"
)
_ADVICE = {
    401: "check OPENAI_API_KEY",
    403: "check OPENAI_API_KEY, and that it may use the model",
    404: "check OPENAI_BASE_URL and that the service has the model",
    408: "the service is slow; give it more time with FCPAIR_TIMEOUT_S",
    429: "wait until the limit is lifted",
}


@dataclass(frozen=True)
class Service:
    """A service at an address, and how patiently it is asked."""

    base_url: str | None
    key: str | None = field(default=None, repr=False)
    timeout_s: float = TIMEOUT_S
    attempts: int = ATTEMPTS

    @classmethod
    def from_environment(cls) -> Service:
        """The service that the environment names; ServiceError where the time limit is no number above 0."""
        setting = os.environ.get("FCPAIR_TIMEOUT_S", "").strip() or str(TIMEOUT_S)
        try:
            timeout_s = float(setting)
        except ValueError:
            timeout_s = 0.0
        if not 0 < timeout_s < float("inf"):
            raise ServiceError(f"FCPAIR_TIMEOUT_S is `{setting}`; expected a number of seconds above 0")
        url, key = (os.environ.get(name, "").strip() or None for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"))
        return cls(url, key, timeout_s)

    def query(self, prompt: Prompt, read: Callable[[Any], T]) -> T:
        """Ask until `read` makes something of the answer, as often as allowed.

        Args:
            prompt: what is asked.
            read: takes the JSON of an answer; raises BrokenReply where it cannot be used.

        Raises:
            ServiceError: no address is set, it cannot be reached, it refuses, or no answer could be used; says what
                was asked, what came back, and what to do.
        """
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

        url = f"{self._address()}/{prompt.endpoint}"
        retrying = Retrying(
            sleep=sleep,
            stop=stop_after_attempt(self.attempts),
            wait=_wait_s,
            retry=retry_if_exception_type(BrokenReply),
            reraise=True,
        )
        try:
            result: T = retrying(self._attempt, url, prompt, read)
        except BrokenReply as broken:
            attempts_note = f"asked {self.attempts} times; the last time "
            raise self._error(prompt, attempts_note + str(broken), broken.advice) from None
        return result

    def check_address(self) -> None:
        """Raise ServiceError where the environment names no address that can be asked."""
        self._address()

    def _address(self) -> str:
        if not self.base_url:
            raise ServiceError(f"an answer of a service is needed and none is set; {_SETTING}")
        try:
            parts = urlsplit(self.base_url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            raise ServiceError(f"OPENAI_BASE_URL is not the address of a service; {_SETTING}")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ServiceError(
                "OPENAI_BASE_URL holds more than an address (a user name, a query or a fragment); "
                "give the key in OPENAI_API_KEY"
            )
        return self.base_url.rstrip("/")

    def _client(self) -> Client:
        from httpx2 import Client, InvalidURL

        headers = self._headers()
        try:
            return Client(headers=headers, timeout=self.timeout_s)
        except (ImportError, InvalidURL, OSError, ValueError) as error:
            raise ServiceError(
                f"no connection can be prepared ({type(error).__name__}); check the proxy (HTTP_PROXY, HTTPS_PROXY, "
                "ALL_PROXY) and the certificates (SSL_CERT_FILE) that the environment names"
            ) from None

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", **ACCEPT_GZIP}
        if self.key:
            if not all("!" <= sign <= "~" for sign in self.key):
                raise ServiceError(
                    "OPENAI_API_KEY contains a space or another character that no key has; copy it again"
                )
            headers["Authorization"] = f"Bearer {self.key}"
        return headers

    def _attempt(self, url: str, prompt: Prompt, read: Callable[[Any], T]) -> T:
        from httpx2 import HTTPError, InvalidURL, TimeoutException

        client = self._client()
        try:
            answer = post(client, url, timeout_s=self.timeout_s, longest=LONGEST_ANSWER, content=prompt.content)
        except TooLongError as error:
            raise BrokenReply(str(error)) from None
        except TimeoutException:
            raise BrokenReply(f"there was no answer within {self.timeout_s:g} s", advice=_ADVICE[408]) from None
        except InvalidURL:
            raise ServiceError(f"OPENAI_BASE_URL is not the address of a service; {_SETTING}") from None
        except HTTPError as error:
            advice = "check OPENAI_BASE_URL and that the service runs"
            raise BrokenReply(f"the connection failed ({type(error).__name__})", advice=advice) from None
        text = self._without_key(answer.body.decode("utf-8", "replace"))
        self._check_status(prompt, answer, text)
        try:
            return read(_parse_json(text))
        except BrokenReply as broken:
            raise BrokenReply(f"{broken}: {quote_beginning(text, _SHOWN)}" if text.strip() else str(broken)) from None

    def _without_key(self, text: str) -> str:
        return text.replace(self.key, "[key]") if self.key and len(self.key) >= SECRET_FROM else text

    def _check_status(self, prompt: Prompt, answer: Answer, text: str) -> None:
        status = answer.status
        if status == 200:
            return
        problem = f"it answered {status}: {quote_beginning(text, _SHOWN)}"
        advice = _ADVICE.get(status, "")
        if status in (408, 429) or status >= 500:
            raise BrokenReply(problem, _retry_after_s(answer.headers.get("Retry-After")), advice)
        raise self._error(prompt, problem, advice)

    def _error(self, prompt: Prompt, problem: str, advice: str) -> ServiceError:
        model = prompt.body.get("model")
        request = f"the service at {self.base_url}, {prompt.endpoint} of the model `{model}`, for {prompt.about}"
        cache_note = "every answer so far is kept, so a second run asks only for the rest"
        return ServiceError(f"{request}: {problem}. {advice or 'check the service and the model'}; {cache_note}")


def query_and_cache(prompt: Prompt, extract: Callable[[Any], Any], read: Callable[[Reply], T]) -> T:
    """Ask the service that the environment names, and keep an answer that can be used.

    Args:
        prompt: what is asked.
        extract: takes what is kept from the JSON of an answer.
        read: takes that; both raise BrokenReply where it cannot be used.

    Raises:
        ServiceError: as `Service.query` does.
    """

    def check_payload(payload: Any) -> tuple[Reply, T]:
        answer = Reply(extract(payload), reported_model(payload))
        return answer, read(answer)

    service = Service.from_environment()
    answer, result = service.query(prompt, check_payload)
    cache_answer(prompt, answer, service.base_url)
    return result


def message_content(payload: Any) -> Any:
    """The content of the message that an answer of a chat model holds; raises BrokenReply where it has none."""
    try:
        return payload["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        raise BrokenReply("it answered without the content of a message") from None


def _parse_json(text: str) -> Any:
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        kind = "HTML" if text.lstrip()[:1] == "<" else f"broken JSON ({error.msg})"
        raise BrokenReply("it answered with nothing" if is_blank(text) else f"it answered with {kind}") from None


def _wait_s(state: RetryCallState) -> float:
    """Seconds to wait before the next attempt: as many as the service asks for, else twice as many as before."""
    broken = state.outcome.exception() if state.outcome else None
    requested_s = broken.wait_s if isinstance(broken, BrokenReply) else None
    wait_s = FIRST_WAIT_S * 2 ** (state.attempt_number - 1) if requested_s is None else requested_s
    return min(wait_s, LONGEST_WAIT_S)


def _retry_after_s(header: str | None) -> float | None:
    """The seconds of a Retry-After header, which holds seconds or a date; None where it holds neither."""
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
