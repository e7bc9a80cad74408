"""A persistent HTTP connection for load generators."""

from __future__ import annotations

import http.client
import json
import select
import socket
from collections.abc import Mapping

from tests.support.visitor_profiles import PERSON, VisitorProfile


class NotReachedError(Exception):
    """The connection was refused, so the server cannot have processed the request."""


class Connection:
    """A persistent connection with little overhead. Raises NotReachedError or OSError.

    With `repeats`, it retries a request once on a new connection if a reused one ended without any
    response, as browsers do: a server may close an idle connection at the moment when the next
    request is sent.
    """

    def __init__(
        self, url: str, seconds: float, *, repeats: bool = False, client_ip: str = ""
    ) -> None:
        self._repeats = repeats
        self.location = ""
        """The Location header of the last response."""
        self._http = http.client.HTTPConnection(
            url.removeprefix("http://"),
            timeout=seconds,
            source_address=(client_ip, 0) if client_ip else None,
        )

    def ask(
        self, method: str, path: str, data: object = None, profile: VisitorProfile | None = None
    ) -> tuple[int, bytes]:
        """Send a request with the headers of a profile, by default of a person with a browser.

        Returns the status and the body.
        """
        if self._http.sock is not None and _ended(self._http.sock):
            self._http.close()
        is_kept = self._http.sock is not None
        if not is_kept:
            self._connect()
        headers = dict((profile or PERSON).headers)
        body = None
        if data is not None:
            headers["content-type"] = "application/json"
            body = json.dumps({"data": data}).encode()
        try:
            try:
                response = self._send(method, path, body, headers)
            except ConnectionError:
                if not (is_kept and self._repeats):
                    raise
                self._http.close()
                self._connect()
                response = self._send(method, path, body, headers)
            self.location = response.getheader("location", "")
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            self._http.close()
            raise OSError(str(error)) from error

    def close(self) -> None:
        self._http.close()

    def _connect(self) -> None:
        try:
            self._http.connect()
        except OSError as error:
            self._http.close()
            raise NotReachedError from error

    def _send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        """Return the response headers. Raises ConnectionError if the connection ends earlier."""
        self._http.request(method, path, body, headers)
        return self._http.getresponse()


def _ended(idle: socket.socket) -> bool:
    """Return whether the server has closed an idle connection."""
    return bool(select.select([idle], [], [], 0)[0])
