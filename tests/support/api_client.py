"""A client of the REST API of a gateway."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import httpx

from tests.support.gateway_client import GatewayClient

SCOPES = ("links:read", "links:write", "statistics:read")


class ApiClient:
    """Calls the REST API with a key of a new account. An empty key is not sent."""

    def __init__(
        self, gateway: GatewayClient, scopes: Sequence[str] = SCOPES, token: str | None = None
    ) -> None:
        self.gateway = gateway
        self.token = token or gateway.log_in(gateway.register())
        made = gateway.data(
            "createKey",
            {
                "token": self.token,
                "password": "Camino-42",
                "name": "tests",
                "scopes": list(scopes),
            },
        )
        assert made["success"], made
        self.key_id, self.key = made["id"], made["key"]

    def send(
        self, method: str, path: str, body: Any = None, key: str | None = None, **headers: str
    ) -> httpx.Response:
        """Send a request. `body` is JSON, or bytes that are sent as they are.

        Underscores in the names of headers stand for hyphens.
        """
        key = self.key if key is None else key
        sent = {"authorization": f"Bearer {key}"} if key else {}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        if body is not None:
            sent["content-type"] = "application/json"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return self.gateway.http.request(
            method,
            f"{self.gateway.url}/api/v1{path}",
            content=b"" if body is None else content,
            headers=sent,
        )

    def create(self, url: str = "https://example.com/", **fields: Any) -> dict[str, Any]:
        """Create a link; return it."""
        response = self.send("POST", "/links", {"url": url, **fields})
        assert response.status_code == 201, response.text
        link: dict[str, Any] = response.json()
        return link


def problem_of(response: httpx.Response) -> tuple[int, str]:
    """Return the status and the code of a problem, after checks that hold for each."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    problem = response.json()
    assert problem.keys() >= {"type", "title", "status", "detail", "code"}
    assert problem["status"] == response.status_code
    assert problem["type"] == f"/api#{problem['code']}"
    assert ("errors" in problem) == (problem["code"] == "invalid_input")
    return problem["status"], problem["code"]


def faults_of(response: httpx.Response) -> list[tuple[str, str]]:
    """Return the faults of invalid input as pointers and codes."""
    assert problem_of(response) == (400, "invalid_input"), response.text
    return [(fault["pointer"], fault["code"]) for fault in response.json()["errors"]]
