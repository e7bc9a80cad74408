"""Verifies ID tokens: OpenID Connect Core 1.0, section 3.1.3.7."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import JWKRegistry, KeySet

from services.auth.application.identities import InvalidAnswer
from services.auth.domain.connection import MAX_SUBJECT_LENGTH
from services.shared.timestamps import CLOCK_LEEWAY

_FAMILIES = ("RS", "PS", "ES")
ALGORITHMS = [f"{family}{bits}" for family in _FAMILIES for bits in (256, 384, 512)] + [
    "EdDSA",
    "Ed25519",
]
"""Signatures by a private key of the provider. `none` and those by the client's secret are not."""
_KEY_TYPES = ("RSA", "EC", "OKP")
_MAX_KEYS = 50
_MALFORMED = (JoseError, UnsupportedAlgorithm, ValueError, TypeError, KeyError, AttributeError)
"""What joserfc raises for a key of a provider: also what its libraries raise."""


class UnknownKey(Exception):
    """The token is signed by a key that is not among those of the provider."""


def parse_keys(keys: object) -> KeySet:
    """Return the keys for signatures in the member `keys` of a JWK Set. Ignores all others."""
    found = []
    for key in keys[:_MAX_KEYS] if isinstance(keys, list) else []:
        if not isinstance(key, dict) or key.get("kty") not in _KEY_TYPES or key.get("use") == "enc":
            continue
        try:
            imported = JWKRegistry.import_key(key)
            imported.ensure_kid()
        except _MALFORMED:
            continue
        found.append(imported)
    return KeySet(found)


def verify(
    token: str, keys: KeySet, issuer: str, client_id: str, nonce: str, now: datetime
) -> dict[str, Any]:
    """Return the claims of an ID token. Raises InvalidAnswer, and UnknownKey."""
    try:
        claims = jwt.decode(token, keys, algorithms=ALGORITHMS).claims
    except InvalidKeyIdError:
        raise UnknownKey from None
    except (JoseError, ValueError, TypeError, RecursionError) as error:
        raise InvalidAnswer("The ID token is not signed by the provider.") from error
    if claims.get("iss") != issuer:
        raise InvalidAnswer("The ID token is of another issuer.")
    _check_audience(claims, client_id)
    seconds, leeway = now.timestamp(), CLOCK_LEEWAY.total_seconds()
    if not _read_time(claims, "exp") + leeway > seconds:
        raise InvalidAnswer("The ID token has expired.")
    if not _read_time(claims, "iat") - leeway <= seconds:
        raise InvalidAnswer("The ID token is from the future.")
    if claims.get("nonce") != nonce:
        raise InvalidAnswer("The ID token belongs to another log-in.")
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 1 <= len(subject) <= MAX_SUBJECT_LENGTH:
        raise InvalidAnswer("The ID token has no subject.")
    if not subject.isascii() or not subject.isprintable():
        raise InvalidAnswer("The subject of the ID token is not ASCII.")
    return claims


def _check_audience(claims: dict[str, Any], client_id: str) -> None:
    audience = claims.get("aud")
    audiences: Iterable[object] = audience if isinstance(audience, list) else [audience]
    if client_id not in audiences:
        raise InvalidAnswer("The ID token is for another client.")
    if (audiences != [client_id] or "azp" in claims) and claims.get("azp") != client_id:
        raise InvalidAnswer("The ID token is for several clients, and was issued to another one.")


def _read_time(claims: dict[str, Any], name: str) -> float:
    seconds = claims.get(name)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise InvalidAnswer(f"The ID token has no time {name}.")
    if not math.isfinite(seconds):
        raise InvalidAnswer(f"The ID token has no time {name}.")
    return seconds
