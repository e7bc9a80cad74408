"""Requests to a provider: each has a deadline, and its answer has a maximum size."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, NamedTuple

import httpx

from services.auth.domain.errors import ProviderUnavailable

CALL_SECONDS = 5.0
"""Deadline of a request, from resolving the name to the last byte."""
MAX_BYTES = 256 * 1024
"""Maximum size of an answer. Discovery documents have about 5 kB, sets of keys 2 to 20."""
_MAX_RUNNING = 50
"""Maximum concurrent requests. Further ones fail at once."""

# They log the URLs of requests, and at lower levels their headers.
for _library in ("httpx", "httpcore"):
    logging.getLogger(_library).setLevel(logging.WARNING)


class Answer(NamedTuple):
    """An answer that consists of a JSON object."""

    status: int
    content: dict[str, Any]


class HttpClient:
    """Sends requests to endpoints that `check_provider_url` accepted.

    Follows no redirects: an answer must not lead secrets, or this server, elsewhere.
    """

    def __init__(self) -> None:
        self._running = 0
        self._client = httpx.AsyncClient(
            follow_redirects=False,
            timeout=CALL_SECONDS,
            limits=httpx.Limits(max_connections=_MAX_RUNNING, max_keepalive_connections=2),
            # All users share this client, so it keeps no cookies.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers={
                "accept": "application/json",
                # A compressed answer could grow beyond its maximum size in memory.
                "accept-encoding": "identity",
                "user-agent": "Atajo",
            },
        )

    async def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request. Raises ProviderUnavailable, also for a redirect, and other content."""
        if self._running >= _MAX_RUNNING:
            raise ProviderUnavailable("Too many requests to the provider are running.")
        self._running += 1
        try:
            async with asyncio.timeout(CALL_SECONDS):
                status, body = await self._read(method, url, headers, form)
            content = json.loads(body)
            if not isinstance(content, dict):
                raise ProviderUnavailable("The provider did not answer with a JSON object.")
        # RecursionError: deeply nested JSON.
        except (
            httpx.HTTPError,
            httpx.InvalidURL,
            TimeoutError,
            ValueError,
            RecursionError,
        ) as error:
            raise ProviderUnavailable("The provider did not answer as expected.") from error
        finally:
            self._running -= 1
        return Answer(status, content)

    async def _read(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None,
        form: Mapping[str, str] | None,
    ) -> tuple[int, bytes]:
        async with self._client.stream(method, url, headers=headers, data=form) as response:
            if response.is_redirect or "content-encoding" in response.headers:
                raise ProviderUnavailable("The provider redirected, or compressed its answer.")
            body = bytearray()
            async for piece in response.aiter_raw():
                body += piece
                if len(body) > MAX_BYTES:
                    raise ProviderUnavailable("The provider's answer is too long.")
            return response.status_code, bytes(body)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()
