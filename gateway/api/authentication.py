"""Identifies the caller by its API key, and decides what the key may do."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from fastapi import Request
from fastapi.security import HTTPBearer

from gateway.api.problems import ApiError
from gateway.backends.auth import AuthClient
from gateway.backends.ports import VerifiedKey
from gateway.support.single_flight import SingleFlight
from services.shared import api_keys
from services.shared.errors import Unauthenticated

FRESH_SECONDS = 2.0
"""How long a verified key is trusted, from the start of its verification. Within five seconds, a
key of a removed account must stop, and so must the links that it created meanwhile: 2 s, 0.5 s
until the reconciler withdraws them, and 1 s until every gateway knows."""
KNOWN_SECONDS = 3600.0
"""How long after its last verification a key is verified again without counting as unknown."""
MAX_KEYS = 10_000
"""Maximum keys that are remembered, in 5 MB."""

Clock = Callable[[], float]

bearer = HTTPBearer(
    scheme_name="apiKey",
    bearerFormat="atajo_…",
    description="An API key of an account, from the section 'API keys' of its settings page. Each "
    "operation lists the scope that the key needs.",
    auto_error=False,
)


@dataclass(frozen=True, slots=True)
class _Verification:
    key: VerifiedKey
    at: float
    minute: datetime
    """Which the auth service stores as the last use of the key."""


class KeyVerifier:
    """Verifies keys, and remembers for a moment those that are valid. For one event loop.

    `clock` is monotonic, in seconds; `now` is the time of day.
    """

    def __init__(
        self,
        auth: AuthClient,
        clock: Clock = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._auth = auth
        self._clock = clock
        self._now = now
        self._verifications: OrderedDict[bytes, _Verification] = OrderedDict()
        self._loads = SingleFlight(self._load, 0.0, MAX_KEYS)

    def is_known(self, key_hash: bytes) -> bool:
        """Whether a key was valid recently."""
        verification = self._verifications.get(key_hash)
        return verification is not None and self._clock() - verification.at < KNOWN_SECONDS

    async def verify(self, key_hash: bytes) -> VerifiedKey:
        """Return a key by its SHA-256. Raises Unauthenticated, and what the look-up raises."""
        verification = self._verifications.get(key_hash)
        if verification is None or not self._is_fresh(verification):
            verification = await self._loads.get(key_hash)
        expires_at = verification.key.expires_at
        if expires_at is not None and expires_at <= self._now():
            self._verifications.pop(key_hash, None)
            raise Unauthenticated("This key is expired.", "INVALID_KEY")
        return verification.key

    def _is_fresh(self, verification: _Verification) -> bool:
        """Whether a verification is recent, and was in this minute.

        The last use of a key is exact to the minute, so a use in another minute must reach auth.
        """
        is_recent = self._clock() - verification.at < FRESH_SECONDS
        return is_recent and verification.minute == _to_minute(self._now())

    async def _load(self, key_hash: bytes) -> _Verification:
        started, minute = self._clock(), _to_minute(self._now())
        try:
            key = await self._auth.verify_key(key_hash)
        except Unauthenticated:
            self._verifications.pop(key_hash, None)
            raise
        verification = self._verifications[key_hash] = _Verification(key, started, minute)
        self._verifications.move_to_end(key_hash)
        if len(self._verifications) > MAX_KEYS:
            self._verifications.popitem(last=False)
        return verification


def _to_minute(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)


def key_in(request: Request) -> str | None:
    """Return the key in the Authorization header, None if there is none."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() or None if scheme.lower() == "bearer" else None


def hash_of(key: str) -> bytes | None:
    """Return the SHA-256 of a key, None if its checksum is wrong: then it is unknown."""
    return api_keys.hash_key(key) if api_keys.is_well_formed(key) else None


def refuse(key: str | None) -> ApiError:
    """Return the error for a request without a valid key (RFC 6750, 3)."""
    if key is None:
        return ApiError("key_required", headers={"WWW-Authenticate": "Bearer"})
    return ApiError("invalid_key", headers={"WWW-Authenticate": 'Bearer error="invalid_token"'})
