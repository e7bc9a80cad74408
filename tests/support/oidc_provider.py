"""An OpenID Connect provider that answers as a test wants, also as none should."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, parse_qsl, unquote_plus, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

from gateway.backends.auth import AuthClient
from gateway.backends.ports import Login, OidcLink

CLIENT_ID = "atajo"
CLIENT_SECRET = "s3cret/with:marks and a space"
DISCOVERY, KEYS = "/.well-known/openid-configuration", "/keys"
TOKEN, USERINFO = "/token", "/userinfo"

Json = dict[str, Any]


@dataclass
class Answer:
    """What the provider answers to a request."""

    content: Json | bytes
    status: int = 200
    headers: Json = field(default_factory=dict)
    seconds: float = 0.0
    """How long it waits first; infinity for ever."""


def create_key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


_KEY = create_key()


class FakeProvider:
    """A provider at a loopback address, which a test leads by its attributes."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.subject = "ana-at-the-provider"
        self.profile: Json = {
            "email": "ana@example.com",
            "email_verified": True,
            "preferred_username": "Ana",
        }
        """Claims of the userinfo endpoint, or of the ID token."""
        self.is_profile_in_token = False
        self.claims: Json = {}
        """Replaces claims of the ID token. None leaves one out."""
        self.metadata: Json = {}
        """Replaces members of the discovery document."""
        self.answers: dict[str, Answer] = {}
        """Replaces answers, by path."""
        self.keys: dict[str, RSAPrivateKey] = {"first": _KEY}
        """The published keys."""
        self.signing_kid = "first"
        self.sign: Callable[[Json], str] = self.sign_with_key
        self.requests: Counter[str] = Counter()
        """Requests by path."""
        self.cookies: list[str] = []
        """Cookies that came with requests. Each answer sets one."""
        self.asked: dict[str, dict[str, str]] = {}
        """Queries of authorizations, by code."""

    def authorize(self, url: str, **changes: str) -> dict[str, str]:
        """Return the query with which a browser comes back that was sent to `url`."""
        parts = urlsplit(url)
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{self.issuer}/authorize"
        code = secrets.token_urlsafe()
        self.asked[code] = dict(parse_qsl(parts.query, strict_parsing=True))
        return {"code": code, "state": self.asked[code]["state"], "iss": self.issuer} | changes

    def sign_with_key(self, claims: Json) -> str:
        headers = {"kid": self.signing_kid}
        return jwt.encode(claims, self.keys.get(self.signing_kid, _KEY), "RS256", headers)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and close the connection."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            line, *fields = head.split("\r\n")
            headers = {
                name.lower(): value for name, _, value in (text.partition(": ") for text in fields)
            }
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            path = line.split(" ")[1]
            self.requests[path] += 1
            self.cookies += [headers["cookie"]] if "cookie" in headers else []
            answer = self.answers.get(path) or self._answer(path, headers, body.decode())
            if answer.seconds == float("inf"):
                await asyncio.Event().wait()
            await asyncio.sleep(answer.seconds)
            content = answer.content
            sent = content if isinstance(content, bytes) else json.dumps(content).encode()
            extra = "".join(f"{name}: {value}\r\n" for name, value in answer.headers.items())
            writer.write(
                f"HTTP/1.1 {answer.status} Status\r\ncontent-length: {len(sent)}\r\n"
                f"connection: close\r\nset-cookie: session={path}\r\n{extra}\r\n".encode()
                + sent
            )
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # The client has closed the connection.
        finally:
            writer.close()

    def _answer(self, path: str, headers: dict[str, str], body: str) -> Answer:
        if path == DISCOVERY:
            return Answer(self._discovery())
        if path == KEYS:
            return Answer({"keys": [public_key(kid, key) for kid, key in self.keys.items()]})
        if path == TOKEN:
            return self._redeem(headers, {name: text for name, [text] in parse_qs(body).items()})
        if path == USERINFO and headers["authorization"] == "Bearer access":
            return Answer({"sub": self.subject, **self.profile})
        return Answer({"error": "no such path"}, 404)

    def _discovery(self) -> Json:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": self.issuer + TOKEN,
            "jwks_uri": self.issuer + KEYS,
            "userinfo_endpoint": self.issuer + USERINFO,
            "authorization_response_iss_parameter_supported": True,
            **self.metadata,
        }

    def _redeem(self, headers: dict[str, str], form: dict[str, str]) -> Answer:
        scheme, _, credentials = headers["authorization"].partition(" ")
        client = base64.b64decode(credentials).decode().split(":")
        if scheme != "Basic" or list(map(unquote_plus, client)) != [CLIENT_ID, CLIENT_SECRET]:
            return Answer({"error": "invalid_client"}, 401)
        asked = self.asked.pop(form["code"], None)
        challenge = hashlib.sha256(form["code_verifier"].encode()).digest()
        encoded = base64.urlsafe_b64encode(challenge).decode().rstrip("=")
        if (
            form["grant_type"] != "authorization_code"
            or asked is None
            or asked["code_challenge_method"] != "S256"
            or asked["code_challenge"] != encoded
            or asked["redirect_uri"] != form["redirect_uri"]
        ):
            return Answer({"error": "invalid_grant"}, 400)
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "sub": self.subject,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            **(self.profile if self.is_profile_in_token else {}),
            **({"auth_time": now} if "max_age" in asked else {}),
            **self.claims,
        }
        present = {name: value for name, value in claims.items() if value is not None}
        return Answer({"access_token": "access", "id_token": self.sign(present)})


def public_key(kid: str, key: RSAPrivateKey) -> Json:
    """Return the JWK of a key's public half."""
    algorithm = jwt.algorithms.RSAAlgorithm
    return {**algorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig"}


class Browser:
    """A browser that goes to the provider and comes back."""

    def __init__(self, auth: AuthClient, fake: FakeProvider) -> None:
        self.auth = auth
        self.fake = fake
        self.secret = secrets.token_urlsafe(32)

    async def go(self, token: str = "") -> dict[str, str]:
        """Return the provider's response."""
        return self.fake.authorize(await self.auth.begin_oidc(self.secret, token))

    async def come_back(self, response: dict[str, str], **more: str) -> Login | OidcLink | None:
        return await self.auth.finish_oidc(
            response["code"], response["state"], response["iss"], self.secret, **more
        )

    async def log_in(self, **more: str) -> Login:
        login = await self.come_back(await self.go(), **more)
        assert isinstance(login, Login)
        return login

    async def confirm(self, token: str) -> None:
        assert await self.come_back(await self.go(token), token=token) is None


@asynccontextmanager
async def running_provider() -> AsyncIterator[FakeProvider]:
    """Yield a provider that listens on a free port."""
    connections: set[asyncio.Task[None]] = set()
    provider: FakeProvider

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        await provider.serve(reader, writer)
        connections.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    provider = FakeProvider(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    try:
        yield provider
    finally:
        server.close()
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
