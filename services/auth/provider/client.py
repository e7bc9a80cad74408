"""An OpenID Connect provider, as a client with a secret uses it for log-ins."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

from joserfc.jwk import KeySet

from services.auth.application.identities import Identity, InvalidAnswer, Profile
from services.auth.domain.errors import ProviderUnavailable
from services.auth.domain.provider_urls import check_provider_url
from services.auth.provider.cached import CachedDocument
from services.auth.provider.http import HttpClient
from services.auth.provider.id_tokens import UnknownKey, parse_keys, verify
from services.shared.observability import logs

_SCOPES = "openid email profile"
_NAMES = ("preferred_username", "nickname", "name", "given_name")
_ERRORS = frozenset(
    {"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client"}
    | {"unsupported_grant_type", "invalid_scope"}
)
"""The errors of RFC 6749, section 5.2. The log has no others: they are any text."""

log = logs.Throttled(__name__)


@dataclass(frozen=True, slots=True)
class Client:
    """What the provider knows about this instance."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    redirect_uri: str


@dataclass(frozen=True, slots=True)
class _Metadata:
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None
    names_issuer: bool
    """Whether its authorization responses have `iss` (RFC 9207)."""


class OidcProvider:
    """An OpenID Connect provider. Implements `identities.Provider`. `now` returns UTC."""

    def __init__(self, client: Client, now: Callable[[], datetime]) -> None:
        self._client = client
        self._now = now
        self._http = HttpClient()
        self._metadata = CachedDocument(self._load_metadata)
        self._keys = CachedDocument(self._load_keys)

    async def authorization_url(
        self, state: str, nonce: str, verifier: str, must_log_in: bool
    ) -> str:
        endpoint = (await self._metadata.get()).authorization_endpoint
        challenge = hashlib.sha256(verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self._client.client_id,
            "redirect_uri": self._client.redirect_uri,
            "scope": _SCOPES,
            "state": state,
            "nonce": nonce,
            "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        if must_log_in:
            query |= {"prompt": "login", "max_age": "0"}
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(query)}"

    async def identify(self, code: str, issuer: str, nonce: str, verifier: str) -> Identity:
        metadata = await self._metadata.get()
        if issuer != self._client.issuer and (issuer or metadata.names_issuer):
            raise InvalidAnswer("The response is of another issuer.")
        tokens = await self._redeem(metadata, code, verifier)
        id_token, access_token = tokens.get("id_token"), tokens.get("access_token")
        if not isinstance(id_token, str):
            raise InvalidAnswer("The provider issued no ID token.")
        claims = await self._verify(id_token, nonce)
        return Identity(
            self._client.issuer,
            claims["sub"],
            _read_authentication(claims),
            claims,
            access_token if isinstance(access_token, str) and access_token.isascii() else "",
        )

    async def read_profile(self, identity: Identity) -> Profile:
        claims: Mapping[str, Any] = identity.claims
        endpoint = (await self._metadata.get()).userinfo_endpoint
        if "email" not in claims and endpoint and identity.access_token:
            headers = {"authorization": f"Bearer {identity.access_token}"}
            answer = await self._http.send("GET", endpoint, headers)
            if answer.status != 200:
                raise ProviderUnavailable("The provider did not tell the e-mail address.")
            found = answer.content.get("sub")
            if not isinstance(found, str) or found != identity.subject:
                raise InvalidAnswer("The provider named another subject.")
            claims = answer.content
        email = claims.get("email")
        # Some providers send the boolean as a text, for example Apple.
        verified = claims.get("email_verified")
        is_verified = verified is True or verified == "true"
        names = [claims.get(name) for name in _NAMES]
        return Profile(
            email if isinstance(email, str) and is_verified else None,
            # A preferred username is often the e-mail address, which others should not see.
            [name for name in names if isinstance(name, str) and "@" not in name],
        )

    async def close(self) -> None:
        self._metadata.close()
        self._keys.close()
        await self._http.close()

    async def _verify(self, id_token: str, nonce: str) -> dict[str, Any]:
        """Return the claims of an ID token. Load the keys again if they lack the token's."""
        issuer, client_id = self._client.issuer, self._client.client_id
        keys = await self._keys.get()
        try:
            with suppress(UnknownKey):
                return verify(id_token, keys, issuer, client_id, nonce, self._now())
            keys = await self._keys.refresh()
            return verify(id_token, keys, issuer, client_id, nonce, self._now())
        except UnknownKey:
            raise InvalidAnswer("The ID token is signed by an unknown key.") from None

    async def _redeem(self, metadata: _Metadata, code: str, verifier: str) -> dict[str, Any]:
        """Exchange an authorization code. Return the answer of the token endpoint."""
        # RFC 6749, section 2.3.1: encoded as in a form first.
        client = (quote_plus(self._client.client_id), quote_plus(self._client.client_secret))
        credentials = base64.b64encode(":".join(client).encode()).decode()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._client.redirect_uri,
            "code_verifier": verifier,
        }
        headers = {"authorization": f"Basic {credentials}"}
        answer = await self._http.send("POST", metadata.token_endpoint, headers, form)
        if answer.status == 200:
            return answer.content
        error = answer.content.get("error")
        if answer.status == 400 and error == "invalid_grant":
            raise InvalidAnswer("The provider refused the authorization code.")
        named = error if isinstance(error, str) and error in _ERRORS else "other"
        log.warning("provider_refused_client", status=answer.status, reason=named)
        raise ProviderUnavailable("The provider refused this instance as its client.")

    async def _load_metadata(self) -> _Metadata:
        url = f"{self._client.issuer.rstrip('/')}/.well-known/openid-configuration"
        status, content = await self._http.send("GET", url)
        if status != 200:
            raise ProviderUnavailable("The provider's configuration could not be read.")
        if content.get("issuer") != self._client.issuer:
            log.warning("provider_has_other_issuer")
            raise ProviderUnavailable("The provider names another issuer in its configuration.")
        userinfo = content.get("userinfo_endpoint")
        try:
            return _Metadata(
                check_provider_url(content.get("authorization_endpoint")),
                check_provider_url(content.get("token_endpoint")),
                check_provider_url(content.get("jwks_uri")),
                None if userinfo is None else check_provider_url(userinfo),
                content.get("authorization_response_iss_parameter_supported") is True,
            )
        except ValueError as error:
            raise ProviderUnavailable("The provider's endpoints cannot be used.") from error

    async def _load_keys(self) -> KeySet:
        status, content = await self._http.send("GET", (await self._metadata.get()).jwks_uri)
        if status != 200:
            raise ProviderUnavailable("The provider's keys could not be read.")
        return parse_keys(content.get("keys"))


def _read_authentication(claims: Mapping[str, Any]) -> datetime | None:
    seconds = claims.get("auth_time")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
