"""Asking an OpenAI-compatible service over HTTP, with bounded retries; a usable answer is kept.

The address is `OPENAI_BASE_URL`, the key `OPENAI_API_KEY` (a local server needs none), and `FCPAIR_TIMEOUT_S` the
seconds that one request may take. Nothing is asked of any address that was not set. The key goes into the request's
header and nowhere else.

A request is bounded: it has a deadline for the whole of it, and a cap on the answer after unpacking. The time limits of
an HTTP library hold for each read, so that a server which sends a byte now and then is waited for as long as it likes.
Here the request runs beside, and whoever asked goes on when the time is over.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

from fcpair.errors import ServiceError
from fcpair.lazy import Lazy
from fcpair.models.cache import cache_folder, read_record, write_record
from fcpair.sentences import join, say
from fcpair.values import is_blank, parse_json

if TYPE_CHECKING:
    import httpx2
    from tenacity import RetryCallState
else:
    httpx2 = Lazy("httpx2")

T = TypeVar("T")
Endpoint = Literal["chat/completions", "embeddings"]
CHARACTERS_A_TOKEN = 4
_SHOWN_SUBJECT = 80
_FENCE = re.compile(r"\s*```(?:json)?[ \t]*\n(.*?)\s*```\s*", re.DOTALL)
_log = logging.getLogger(__name__)
ATTEMPTS = 4
TIMEOUT_S = 60.0
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0  # a wait doubles from one attempt to the next, unless the service names one
LONGEST_ANSWER = 64_000_000  # bytes
SECRET_FROM = 6  # characters; a shorter key is a local server's placeholder
_SHOWN = 200
_SETTING = say(
    "set OPENAI_BASE_URL to an OpenAI-compatible service, such as %(first)s for a local server or %(second)s, and "
    "OPENAI_API_KEY where it needs a key",
    first="http://localhost:11434/v1",
    second="https://api.openai.com/v1",
)
_NO_ADDRESS = join((say("OPENAI_BASE_URL is not the address of a service"), _SETTING), "; ")
_ADVICE = {
    401: "check OPENAI_API_KEY",
    403: "check OPENAI_API_KEY, and that it may use the model",
    404: "check OPENAI_BASE_URL and that the service has the model",
    408: "the service is slow; give it more time with FCPAIR_TIMEOUT_S",
    429: "wait until the limit is lifted",
}


@dataclass(frozen=True)
class Prompt:
    """One request: its endpoint, its body, and what it is about in a reader's words."""

    endpoint: Endpoint
    body: Mapping[str, Any]
    about: str

    @property
    def content(self) -> str:
        """The body as it is sent, always the same for the same prompt: JSON in ASCII, keys in order."""
        return json.dumps(self.body, sort_keys=True, separators=(",", ":"))

    @property
    def texts(self) -> Sequence[str]:
        """The texts that the model is given to read."""
        texts = self.body.get("input", [message["content"] for message in self.body.get("messages", ())])
        return [texts] if isinstance(texts, str) else texts

    @property
    def path(self) -> Path:
        """Path of its answer."""
        digest = hashlib.sha256(f"{self.endpoint}\n{self.content}".encode()).hexdigest()
        return cache_folder() / "answers" / digest[:2] / f"{digest}.json"


@dataclass(frozen=True)
class Reply:
    """Reply of a service, and the model that it said it used."""

    said: Any
    model: str


class BrokenReply(Exception):  # noqa: N818 - an error only after the last attempt
    """No answer, or one that cannot be used; `wait_s` is what the service asks for before the next attempt."""

    def __init__(self, problem: str, wait_s: float | None = None, advice: str = "") -> None:
        super().__init__(problem)
        self.wait_s = wait_s
        self.advice = advice


def read_cached(prompt: Prompt, read: Callable[[Reply], T]) -> T | None:
    """Read the kept answer with `read`; None if there is none, or none that can be used (a warning)."""
    if (record := read_record(prompt.path)) is not None:
        try:
            return read(Reply(record["answer"], str(record["model"])))
        except (KeyError, BrokenReply) as error:
            _log.warning("the kept answer %s cannot be used (%s); it is requested again", prompt.path, error)
    return None


def cache_answer(prompt: Prompt, answer: Reply, base_url: str | None) -> None:
    """Keep an answer that could be used, with what was asked and where."""
    asked = {"endpoint": prompt.endpoint, "asked": dict(prompt.body), "base_url": base_url}
    write_record(prompt.path, {**asked, "model": answer.model, "answer": answer.said})


def n_tokens(texts: Iterable[str]) -> int:
    """About how many tokens texts have: a token for every four characters of all, rounded up."""
    return math.ceil(sum(map(len, texts)) / CHARACTERS_A_TOKEN)


def n_prompt_tokens(prompts: Iterable[Prompt]) -> int:
    """About how many tokens a model is given to read."""
    return n_tokens(text for prompt in prompts for text in prompt.texts)


def model_record(name: str, reported: Iterable[str]) -> dict[str, str]:
    """Record of a service's model that a run keeps: the name asked for, and the one that the service reported."""
    return {"name": name, "source": "service", "reported": ", ".join(sorted(set(reported) - {""}))}


def reported_model(payload: Mapping[str, Any]) -> str:
    """The model that an answer says it is from; empty where it does not say."""
    model = payload.get("model")
    return model if isinstance(model, str) else ""


def prompt_subject(what: str, text: str) -> str:
    """Subject of a prompt: `what` and the beginning of a text."""
    return f"{what} ({quote_beginning(text, _SHOWN_SUBJECT)})"


def strip_fence(text: str) -> str:
    """JSON that stands bare or in a ```json fence, without the fence."""
    match = _FENCE.fullmatch(text)
    return match[1] if match else text


def quote_beginning(text: str, length: int) -> str:
    """The beginning of a text, on one line and in quotes; `nothing` where it is empty."""
    flat = " ".join(text.split())
    shown = flat if len(flat) <= length else f"{flat[:length]}..."
    return json.dumps(shown, ensure_ascii=False) if flat else "nothing"


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
        setting, timeout_s = os.environ.get("FCPAIR_TIMEOUT_S", "").strip() or str(TIMEOUT_S), 0.0
        with suppress(ValueError):
            timeout_s = float(setting)
        if not 0 < timeout_s < math.inf:
            raise ServiceError(f"FCPAIR_TIMEOUT_S is `{setting}`; expected a number of seconds above 0")
        url, key = (os.environ.get(name, "").strip() or None for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"))
        return cls(url, key, timeout_s)

    def query(self, prompt: Prompt, read: Callable[[Any], T]) -> T:
        """Ask until `read`, which takes the JSON of an answer and raises BrokenReply for one that cannot be used, makes
        something of it, as often as allowed. Raises ServiceError where no address is set, it cannot be reached, it
        refuses, or no answer could be used; the message says what was asked, what came back, and what to do.
        """
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

        url = f"{self.address()}/{prompt.endpoint}"
        stop, retry = stop_after_attempt(self.attempts), retry_if_exception_type(BrokenReply)
        retrying = Retrying(sleep=sleep, stop=stop, wait=_wait_s, retry=retry, reraise=True)
        try:
            result: T = retrying(self._attempt, url, prompt, read)
        except BrokenReply as broken:
            raise self._error(prompt, f"asked {self.attempts} times; the last time {broken}", broken.advice) from None
        return result

    def address(self) -> str:
        """The address; raises ServiceError where the environment names none that can be asked."""
        if not self.base_url:
            raise ServiceError(join((say("an answer of a service is needed and none is set"), _SETTING), "; "))
        is_usable = False
        with suppress(ValueError):
            parts = urlsplit(self.base_url)
            is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        if not is_usable:
            raise ServiceError(_NO_ADDRESS)
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ServiceError(
                "OPENAI_BASE_URL holds more than an address (a user name, a query or a fragment); "
                "give the key in OPENAI_API_KEY"
            )
        return self.base_url.rstrip("/")

    def _client(self) -> httpx2.Client:
        if not all("!" <= sign <= "~" for sign in self.key or ""):
            raise ServiceError("OPENAI_API_KEY contains a space or another character that no key has; copy it again")
        headers = {"Content-Type": "application/json", "Accept": "application/json", **ACCEPT_GZIP}
        headers |= {"Authorization": f"Bearer {self.key}"} if self.key else {}
        try:
            return httpx2.Client(headers=headers, timeout=self.timeout_s)
        except (ImportError, httpx2.InvalidURL, OSError, ValueError) as error:
            raise ServiceError(
                f"no connection can be prepared ({type(error).__name__}); check the proxy (HTTP_PROXY, HTTPS_PROXY, "
                "ALL_PROXY) and the certificates (SSL_CERT_FILE) that the environment names"
            ) from None

    def _attempt(self, url: str, prompt: Prompt, read: Callable[[Any], T]) -> T:
        client = self._client()
        try:
            answer = post(client, url, timeout_s=self.timeout_s, longest=LONGEST_ANSWER, content=prompt.content)
        except TooLongError as error:
            raise BrokenReply(str(error)) from None
        except httpx2.TimeoutException:
            raise BrokenReply(f"there was no answer within {self.timeout_s:g} s", advice=_ADVICE[408]) from None
        except httpx2.InvalidURL:
            raise ServiceError(_NO_ADDRESS) from None
        except httpx2.HTTPError as error:
            advice = "check OPENAI_BASE_URL and that the service runs"
            raise BrokenReply(f"the connection failed ({type(error).__name__})", advice=advice) from None
        text = answer.body.decode("utf-8", "replace")
        text = text.replace(self.key, "[key]") if self.key and len(self.key) >= SECRET_FROM else text
        if answer.status != 200:
            problem = f"it answered {answer.status}: {quote_beginning(text, _SHOWN)}"
            advice = _ADVICE.get(answer.status, "")
            if answer.status in (408, 429) or answer.status >= 500:
                raise BrokenReply(problem, _retry_after_s(answer.headers.get("Retry-After")), advice)
            raise self._error(prompt, problem, advice)
        try:
            return read(parse_json(text))
        except json.JSONDecodeError as error:
            kind = "HTML" if text.lstrip()[:1] == "<" else f"broken JSON ({error.msg})"
            problem = f"it answered with {'nothing' if is_blank(text) else kind}"
        except BrokenReply as broken:
            problem = str(broken)
        raise BrokenReply(f"{problem}: {quote_beginning(text, _SHOWN)}" if text.strip() else problem)

    def _error(self, prompt: Prompt, problem: str, advice: str) -> ServiceError:
        model = prompt.body.get("model")
        request = f"the service at {self.base_url}, {prompt.endpoint} of the model `{model}`, for {prompt.about}"
        cache_note = "every answer so far is kept, so a second run asks only for the rest"
        return ServiceError(f"{request}: {problem}. {advice or 'check the service and the model'}; {cache_note}")


def query_and_cache(prompt: Prompt, extract: Callable[[Any], Any], read: Callable[[Reply], T]) -> T:
    """Ask the service that the environment names, and keep an answer that can be used; raises as `Service.query` does.
    `extract` takes what is kept from the JSON of an answer, and `read` takes that; both may raise BrokenReply.
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


def _wait_s(state: RetryCallState) -> float:
    """Seconds to wait before the next attempt: as many as the service asks for, else twice as many as before."""
    broken = state.outcome.exception() if state.outcome else None
    requested_s = broken.wait_s if isinstance(broken, BrokenReply) else None
    return min(FIRST_WAIT_S * 2 ** (state.attempt_number - 1) if requested_s is None else requested_s, LONGEST_WAIT_S)


def _retry_after_s(header: str | None) -> float | None:
    """The seconds of a Retry-After header, which holds seconds or a date; None where it holds neither."""
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    if header and header.strip().isdecimal():
        return float(header)
    with suppress(ValueError):
        date = parsedate_to_datetime(header or "")
        return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    return None


ACCEPT_GZIP = {"Accept-Encoding": "gzip"}
_GZIP = 16 + zlib.MAX_WBITS


class TooLongError(Exception):
    """An answer has more bytes than were allowed."""


@dataclass(frozen=True)
class Answer:
    """A whole answer: its status, its headers, and its body, unpacked."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def post(client: httpx2.Client, url: str, *, timeout_s: float, longest: int, **request: Any) -> Answer:
    """Send a request (`Client.stream` takes it), return its whole answer, and close the client. `timeout_s` is for
    everything: finding the address, connecting, sending, head and body; `longest` is in bytes, unpacked. Raises
    httpx2.TimeoutException; httpx2.HTTPError, httpx2.InvalidURL for no connection, or an answer that is none;
    TooLongError.
    """
    answers: SimpleQueue[Answer | Exception] = SimpleQueue()

    def send() -> None:
        try:
            with client.stream("POST", url, **request) as response:
                answers.put(Answer(response.status_code, response.headers, _read_body(response, longest)))
        except Exception as error:
            answers.put(error)

    Thread(target=send, daemon=True).start()
    try:
        answer = answers.get(timeout=timeout_s)
    except Empty:
        raise httpx2.ReadTimeout(f"no whole answer within {timeout_s:g} s") from None
    finally:
        client.close()
    if isinstance(answer, Exception):
        raise answer
    return answer


def _read_body(response: httpx2.Response, longest: int) -> bytes:
    packing = response.headers.get("Content-Encoding", "identity").strip().lower()
    if packing not in ("identity", "", "gzip", "x-gzip"):
        raise httpx2.DecodingError(f"the answer is compressed with `{packing}`, which was not asked for")
    unpacker = zlib.decompressobj(_GZIP) if packing in ("gzip", "x-gzip") else None
    body = bytearray()
    try:
        for part in response.iter_raw():
            body += unpacker.decompress(part, longest + 1) if unpacker else part
            if len(body) > longest:
                raise TooLongError(f"the answer was longer than {longest} bytes")
    except zlib.error as error:
        raise httpx2.DecodingError(str(error)) from None
    if unpacker and not unpacker.eof:
        raise httpx2.DecodingError("the compressed answer is truncated")
    return bytes(body)
