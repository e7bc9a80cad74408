"""The replicas of a service behind a name, and which of them is responsible for what.

Rendezvous hashing: each key has an order of all replicas, and the first one that is not away is
responsible. A replica that comes or goes takes or leaves its own keys, and no others change.
"""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import lru_cache
from hashlib import blake2b
from ipaddress import ip_address
from typing import Generic, Protocol, TypeVar

from services.shared import background
from services.shared.errors import AppError, DeadlineExceeded, InvalidArgument, Unavailable

RESOLVE_SECONDS = 10.0
"""How long the addresses of a name are used before it is resolved again."""
RESOLVE_AFTER_FAILURE_SECONDS = 1.0
_RESOLVE_WAIT_SECONDS = 0.1
"""How long a call waits for a resolution. Later calls use its result."""
CHECK_SECONDS = 1.0
"""Interval at which a replica that is away is asked whether it is ready again."""
_ATTEMPTS = 2
"""How many replicas are tried for a key in one call."""
_CACHED_WEIGHTS = 10_000

_NAME = re.compile(r"(?:dns:///)?([A-Za-z0-9._-]+):([0-9]{1,5})")
_LIST = re.compile(r"ipv4:([0-9.]+:[0-9]+(?:,[0-9.]+:[0-9]+)+)")


class ReplicaClient(Protocol):
    """A client of one replica."""

    async def check(self) -> None:
        """Return if the replica is ready. Raises AppError."""

    async def close(self) -> None: ...


Client = TypeVar("Client", bound=ReplicaClient)


def may_be_several(target: str) -> bool:
    """Return whether a gRPC target may stand for several replicas: a name, or several addresses."""
    return bool(_LIST.fullmatch(target)) or _parse_name(target) is not None


class Replicas(Generic[Client]):
    """Clients of the replicas behind a gRPC target, opened by `connect` with the address of one.

    A replica that does not answer is away until it reports to be ready. For use by one task at a
    time.
    """

    def __init__(self, target: str, connect: Callable[[str], Client]) -> None:
        self._target = target
        self._connect = connect
        self._clients: dict[str, Client] = {}
        self._away: dict[str, asyncio.Task[None]] = {}
        self._resolving: asyncio.Task[set[str]] | None = None
        self._resolve_at = 0.0

    @property
    def are_several(self) -> bool:
        """Whether several replicas are known."""
        return len(self._clients) > 1

    async def call(
        self, keys: Collection[int], call: Callable[[Client, list[int]], Awaitable[None]]
    ) -> None:
        """Call `call` with each responsible replica and its keys, concurrently.

        The next replica takes the keys of one that is away or fails. Raises the AppError of a key
        that no replica took, and InvalidArgument after all other keys.
        """
        await self.resolve()
        candidates = [address for address in self._clients if address not in self._away]
        candidates = candidates or list(self._clients)
        if not candidates:
            raise Unavailable("The service has no address.")
        refused: AppError | None = None
        busy: AppError | None = None
        failed: AppError | None
        for attempt in range(_ATTEMPTS):
            shares = assign(keys, candidates)
            errors = await asyncio.gather(
                *(self._call_one(address, share, call) for address, share in shares.items())
            )
            keys, failed = [], None
            for (address, share), error in zip(shares.items(), errors, strict=True):
                if error is None:
                    continue
                if isinstance(error, InvalidArgument):
                    refused = error
                elif isinstance(error, DeadlineExceeded) and address not in self._away:
                    busy = error
                else:
                    candidates.remove(address)
                    keys, failed = [*keys, *share], error
            if failed and (attempt == _ATTEMPTS - 1 or not candidates):
                raise failed
            if not failed:
                break
        if error := busy or refused:
            raise error

    async def resolve(self) -> None:
        """Find the replicas again if it is time. Keep the known ones until that succeeds.

        One resolution runs at a time: each takes a thread, for long if the name server is away.
        """
        if self._resolving is None:
            if time.monotonic() < self._resolve_at:
                return
            self._resolving = asyncio.create_task(find_addresses(self._target))
        await asyncio.wait([self._resolving], timeout=_RESOLVE_WAIT_SECONDS)
        if not self._resolving.done():
            return
        resolved, self._resolving = self._resolving, None
        try:
            addresses = resolved.result()
        except (OSError, UnicodeError):  # No address, or no valid name.
            self._resolve_at = time.monotonic() + RESOLVE_AFTER_FAILURE_SECONDS
            return
        self._resolve_at = time.monotonic() + RESOLVE_SECONDS
        for address in self._clients.keys() - addresses:
            await self._close(address)
        for address in addresses - self._clients.keys():
            self._clients[address] = self._connect(address)

    async def close(self) -> None:
        """Close all clients."""
        if self._resolving:
            self._resolving.cancel()
        for address in list(self._clients):
            await self._close(address)

    async def _call_one(
        self, address: str, keys: list[int], call: Callable[[Client, list[int]], Awaitable[None]]
    ) -> AppError | None:
        client = self._clients[address]
        try:
            await call(client, keys)
        except AppError as error:
            # Another replica may be of a later version. One that is ready and late has much to do,
            # and goes on with it: elsewhere, the same work would be done twice.
            is_away = (isinstance(error, Unavailable) and error.reason != "LATER_VERSION") or (
                isinstance(error, DeadlineExceeded) and not await _is_ready(client)
            )
            if is_away and address not in self._away:
                waiting = self._await_ready(address, client)
                self._away[address] = background.start_task(waiting, "replica")
                sooner = time.monotonic() + RESOLVE_AFTER_FAILURE_SECONDS
                self._resolve_at = min(self._resolve_at, sooner)
            return error
        return None

    async def _await_ready(self, address: str, client: Client) -> None:
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            if await _is_ready(client):
                del self._away[address]
                return

    async def _close(self, address: str) -> None:
        if waiting := self._away.pop(address, None):
            waiting.cancel()
        await self._clients.pop(address).close()


async def _is_ready(client: ReplicaClient) -> bool:
    try:
        await client.check()
    except AppError:
        return False
    return True


def assign(keys: Collection[int], addresses: Collection[str]) -> Mapping[str, list[int]]:
    """Return the keys of each address that is responsible for any (rendezvous hashing)."""
    shares: dict[str, list[int]] = {}
    if addresses:
        for key in sorted(keys):
            responsible = max(addresses, key=lambda address: _weigh(key, address))
            shares.setdefault(responsible, []).append(key)
    return shares


async def find_addresses(target: str) -> set[str]:
    """Return the addresses, with ports, of a gRPC target. Raises OSError and UnicodeError.

    A name with addresses of both families has those of IPv4: otherwise each replica would be two.
    """
    if several := _LIST.fullmatch(target):
        return set(several[1].split(","))
    name = _parse_name(target)
    if name is None:
        return {target}
    found = await asyncio.get_running_loop().getaddrinfo(*name, type=socket.SOCK_STREAM)
    family = min((family for family, *_ in found), default=socket.AF_INET)  # AF_INET is the lower.
    hosts = {str(address[0]) for own, *_, address in found if own == family}
    return {f"[{host}]:{name[1]}" if ":" in host else f"{host}:{name[1]}" for host in hosts}


@lru_cache(_CACHED_WEIGHTS)
def _weigh(key: int, address: str) -> bytes:
    return blake2b(f"{key} {address}".encode(), digest_size=8).digest()


def _parse_name(target: str) -> tuple[str, int] | None:
    """Return host and port of a target that names a host, None for any other one."""
    found = _NAME.fullmatch(target)
    if found is None:
        return None
    try:
        ip_address(found[1])
    except ValueError:
        return found[1], int(found[2])
    return None
