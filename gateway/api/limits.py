"""Admits each request: identifies its key, and counts it for the account or the client's address.

Every response has the state of that limit in `RateLimit-Policy` and `RateLimit`
(draft-ietf-httpapi-ratelimit-headers).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from starlette.requests import Request

from gateway.api import authentication
from gateway.api.authentication import KeyVerifier
from gateway.backends.ports import VerifiedKey
from gateway.support.client_ip import ClientIpFinder
from gateway.support.rate_limits import Networks, RateLimiter, to_networks
from services.shared.errors import ResourceExhausted, Unauthenticated

LOOKUP_FACTOR = 10
"""How many keys that were not valid recently are looked up, as a multiple of the limit of requests
without a valid key."""


class Quota(NamedTuple):
    """What a request is counted under."""

    limiter: RateLimiter
    networks: Networks

    def hit(self, calls: int = 1) -> None:
        """Count calls. Raises ResourceExhausted."""
        self.limiter.hit(self.networks, calls)

    def check(self, calls: int) -> None:
        """Raise ResourceExhausted if `hit` would. Counts nothing."""
        self.limiter.check(self.networks, calls)

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers about the limit, which are structured fields (RFC 9651)."""
        rate = self.limiter.rate
        remaining, reset = self.limiter.usage(self.networks)
        return [
            (b"ratelimit-policy", b'"default";q=%d;w=%d' % (rate.amount, rate.seconds)),
            (b"ratelimit", b'"default";r=%d;t=%d' % (remaining, math.ceil(reset))),
        ]


@dataclass(frozen=True, slots=True)
class Admission:
    """Who sent a request, and what it is counted under."""

    quota: Quota
    client: Networks
    """What its client's calls are counted under."""
    key: VerifiedKey | None
    error: Exception | None = None
    """Why there is no valid key, or ResourceExhausted: then the request must not be handled."""

    def valid_key(self) -> VerifiedKey:
        """Return the key. Raises ApiError or AppError if there is none."""
        if self.key is None:
            raise self.error or authentication.refuse(None)
        return self.key


class Gate:
    """Admits requests.

    `accounts` limits requests by account, `clients` those without a valid key by client address,
    and `lookups` the look-ups of keys that were not valid recently, by client address, too.
    """

    def __init__(
        self,
        verifier: KeyVerifier,
        finder: ClientIpFinder,
        accounts: RateLimiter,
        clients: RateLimiter,
        lookups: RateLimiter,
    ) -> None:
        self._verifier = verifier
        self._finder = finder
        self._accounts = accounts
        self._clients = clients
        self._lookups = lookups

    def client_quota(self, request: Request) -> Quota:
        """Return what requests without a valid key are counted under."""
        return Quota(self._clients, to_networks(self._finder.of(request)))

    async def admit(self, request: Request) -> Admission:
        """Identify and count a request.

        A request counts for its client's address if its key turns out to be invalid. So invalid
        keys of a neighbor refuse no valid one. A key that was not valid recently counts before it
        is looked up, so that random keys do not flood auth. Unless it turns out to be invalid, that
        is taken back.
        """
        client = self.client_quota(request)
        networks = client.networks
        text = authentication.key_in(request)
        key_hash = authentication.hash_of(text) if text else None
        try:
            if key_hash is None:
                client.hit()
                return Admission(client, networks, None, authentication.refuse(text))
            is_known = self._verifier.is_known(key_hash)
            lookup = None if is_known else self._lookups.hit(networks)
            try:
                key = await self._verifier.verify(key_hash)
            except Unauthenticated:
                lookup = None
                client.hit()
                return Admission(client, networks, None, authentication.refuse(text))
            finally:
                if lookup:
                    lookup.take_back(1)
        except Exception as error:  # Limited, or auth is away.
            return Admission(client, networks, None, error)
        quota = Quota(self._accounts, (key.account.id.encode(),))
        try:
            quota.hit()
        except ResourceExhausted as error:
            return Admission(quota, networks, key, error)
        return Admission(quota, networks, key)
