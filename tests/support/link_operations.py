"""Operations on a store of links, each in a transaction of its own, for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from services.links.application.account_sizes import AccountSizes
from services.links.application.commands import LinkCommands
from services.links.application.creations import Creations
from services.links.application.imports import Imports
from services.links.application.maintenance import Maintenance
from services.links.application.ports import LinkStore, UnitOfWork
from services.links.application.queries import LinkQueries
from services.links.application.reporting import Reporting
from services.links.application.time_slices import TimeSlices
from services.links.domain.block import BlockReason
from services.links.domain.blocklist import BlocklistMatch
from services.links.domain.edit import Edit
from services.links.domain.host import host_at
from services.links.domain.link import Link
from services.links.domain.owner import Account, Guest
from services.links.domain.report import Statement
from services.links.domain.url import UrlPolicy


async def edit(store: LinkStore, codes: Sequence[str], change: Edit, now: datetime) -> list[Link]:
    """Edit links regardless of their owner."""

    def work(unit: UnitOfWork) -> list[Link]:
        return unit.edit(unit.links.get(codes), codes, change, now)

    return await store.transactions.run("test", work)


async def newest(store: LinkStore, owner: Account | Guest, limit: int) -> list[Link]:
    """Return an owner's newest links in every state."""
    return await store.links.find_all(owner, await store.links.all_codes(owner, limit))


async def claim(store: LinkStore, guest: Guest, account: Account, limit: int) -> int:
    return await store.transactions.run(
        "test", lambda unit: unit.links.reassign(guest, account, limit)
    )


async def withdraw(store: LinkStore, account: Account, limit: int, now: datetime) -> int:
    return await store.transactions.run(
        "test", lambda unit: unit.links.withdraw(account, limit, now)
    )


async def purge(store: LinkStore, codes: Sequence[str], now: datetime) -> list[str]:
    return await store.transactions.run("test", lambda unit: unit.links.purge(codes, now))


async def store_ranking(
    store: LinkStore, owner: Account | Guest, key: str, codes: Sequence[str], now: datetime
) -> None:
    await store.transactions.run(
        "test", lambda unit: unit.links.save_ranking(owner, key, codes, now)
    )


async def report(
    store: LinkStore, code: str, reason: BlockReason, statement: Statement, new_id: str
) -> str:
    return await store.transactions.run(
        "test", lambda unit: unit.reports.add(code, reason, statement, new_id)
    )


async def decide_reports(store: LinkStore, code: str, now: datetime) -> int:
    return await store.transactions.run("test", lambda unit: unit.reports.decide([code], now))


async def give_scan_code(store: LinkStore, code: str, scan_code: str, now: datetime) -> None:
    def work(unit: UnitOfWork) -> None:
        link = unit.links.get([code])[code]
        unit.links.save([(link, replace(link, scan_code=scan_code))], now)

    await store.transactions.run("test", work)


class Service:
    """The use cases of links with one store."""

    def __init__(self, store: LinkStore, urls: UrlPolicy, now: Callable[[], datetime]) -> None:
        accounts, slices = AccountSizes(store, now), TimeSlices()
        self.commands = LinkCommands(store, urls, now, accounts, slices)
        self.queries = LinkQueries(store, now)
        self.reporting = Reporting(store, now)
        self.imports = Imports(store, urls, now, accounts, slices)
        self.creations = Creations(store, urls, now, accounts, slices)
        self.maintenance = Maintenance(store, now)


class FakeBlocklist:
    """A `VersionedBlocklist` of named lists, each a set of hosts and URLs."""

    def __init__(self, **lists: set[str]) -> None:
        self.lists = lists
        self.settled_at = 0.0
        self.are_read = True

    @property
    def fingerprint(self) -> str | None:
        if not self.are_read:
            return None
        return repr(sorted((name, sorted(named)) for name, named in self.lists.items()))

    def match(self, url: str) -> BlocklistMatch | None:
        return next(iter(self.matches(url)), None)

    def matches(self, url: str) -> list[BlocklistMatch]:
        return [
            BlocklistMatch(BlockReason.PHISHING, name, 1, min({url, host_at(url)} & named))
            for name, named in sorted(self.lists.items())
            if {url, host_at(url)} & named
        ]

    def may_match_host(self, host: str) -> bool:
        named = {each for one in self.lists.values() for each in one}
        return host in named or host in map(host_at, named)
