"""What the use cases of links need from a store.

A store has two sides. Readers answer one question each and see what is committed. A unit of work
changes several aggregates and commits all of it or nothing. Both sides raise Unavailable while the
store cannot be reached.

A link whose removal can no longer be undone (`Link.is_gone_at`) is in no list, although its row
stays until it is purged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from services.links.domain.block import BlockReason
from services.links.domain.decision import BlockedAddress, Decision
from services.links.domain.host import HostPlace
from services.links.domain.link import Account, FormerUrl, Guest, Link, Resolution
from services.links.domain.query import LinkOrder, Position, Wanted
from services.links.domain.report import Report, ReportPlace, Statement
from services.links.domain.sweep import Sweep
from services.shared.feed import FeedPage

T = TypeVar("T")

MAX_BATCH = 250
"""Maximum links that one transaction changes. Each takes up to 1 ms on MongoDB, where a transaction
has 2 s."""
MAX_CHANGES = 250
"""Maximum codes on one page of the change feed. With two 999-character URLs (4 bytes a character)
each, their resolutions are about 2 MB, half of gRPC's limit on a message."""


class LinkRepository(Protocol):
    """Links by code, as a unit of work reads and changes them.

    Codes and scan codes whose short addresses answer differently after a change are in the change
    feed from the same commit on.
    """

    def get(self, codes: Sequence[str]) -> dict[str, Link]:
        """Return the links under those of the codes that hold one, by code."""
        ...

    def is_taken(self, code: str) -> bool:
        """Whether a code is that of a link or a scan code, or was that of a purged link."""
        ...

    def save(self, changes: Sequence[tuple[Link, Link]], now: datetime) -> None:
        """Store links that changed, as pairs of the link that was read and the new one.

        A URL that changes moves into the link's history with `now`. A new scan code is taken.
        Raises TooManyUrls for a new URL of a link whose history is full.
        """
        ...

    def reassign(self, guest: Guest, account: Account, limit: int) -> int:
        """Give up to `limit` of a guest's links to an account; return how many moved.

        Deletes the guest's rankings once the guest has no links any more.
        """
        ...

    def withdraw(self, account: Account, limit: int, now: datetime) -> int:
        """Date the removal of up to `limit` of an account's links back by `WITHDRAWN_BEFORE`.

        Takes links that their owner removed, too, but not those that are gone at `now`. Returns how
        many were withdrawn.
        """
        ...

    def purge(self, codes: Sequence[str], now: datetime) -> list[str]:
        """Delete links with their history, reports and views; codes and scan codes stay taken.

        Also deletes the rankings of owners who have no links afterwards. Returns those of the codes
        that are purged now, whether by this call or before. Codes that never held a link and scan
        codes of existing links are left alone.
        """
        ...


class ReportRepository(Protocol):
    """Reports of links."""

    def add(self, code: str, reason: BlockReason, said: Statement, new_id: str) -> str:
        """Count a report of a link that exists, and keep the statement while there is room.

        Returns the report's id: `new_id` for the first report of the link and reason.
        """
        ...

    def decide(self, code: str, now: datetime) -> int:
        """Mark the waiting reports of a link as decided; return how many there were."""
        ...


class DecisionRepository(Protocol):
    """The operator's decisions and the addresses that are blocked by them."""

    def add(self, decision: Decision) -> None:
        """Store a decision."""
        ...

    def block(self, blocked: BlockedAddress) -> None:
        """Block an address, or replace its block."""
        ...

    def unblock(self, address: str) -> bool:
        """Remove the block of an address; return whether there was one."""
        ...


class Rankings(Protocol):
    """Rankings of an owner's links that are kept while somebody pages through them."""

    def keep(self, owner: Account | Guest, key: str, codes: Sequence[str], now: datetime) -> None:
        """Keep a ranking under a key for `RANKING_KEPT_FOR`.

        Each owner has the last `KEPT_RANKINGS` of them.
        """
        ...


class UnitOfWork(Protocol):
    """Repositories whose changes are committed together."""

    @property
    def links(self) -> LinkRepository: ...

    @property
    def reports(self) -> ReportRepository: ...

    @property
    def decisions(self) -> DecisionRepository: ...

    @property
    def rankings(self) -> Rankings: ...


class Transactions(Protocol):
    """Runs units of work."""

    async def run(self, name: str, work: Callable[[UnitOfWork], T]) -> T:
        """Run `work` in a transaction and return its result once that is on disk.

        An exception that `work` raises rolls the transaction back. After a conflict `work` runs
        again, so it changes nothing but the store. `name` labels the operation in the metrics.
        Raises Unavailable, after which the transaction may have been committed or not.
        """
        ...


class LinkReader(Protocol):
    """Links one by one and by owner. `add` is here since a single write needs no unit of work."""

    async def add(self, link: Link) -> Link | None:
        """Store a link whose code is free; return whichever link now holds the code.

        None when the code is that of a purged link or a scan code: it is never free again.
        """
        ...

    async def find(self, code: str) -> Link | None:
        """Return the link under a code or a scan code, whoever owns it."""
        ...

    async def resolve(self, codes: Sequence[str]) -> list[Resolution]:
        """Return what those of the codes answer that are a link's code or scan code, unordered."""
        ...

    async def find_all(self, owner: Account | Guest, codes: Sequence[str]) -> list[Link]:
        """Return the links under those of the codes that are the owner's, in the codes' order."""
        ...

    async def history(self, code: str) -> list[FormerUrl]:
        """Return the previous URLs of a link, the most recent first."""
        ...

    async def newest(self, owner: Account | Guest, limit: int) -> list[Link]:
        """Return an owner's newest links in every state, newest first, at most `limit`."""
        ...

    async def owned_codes(self, owner: Account | Guest, limit: int) -> list[str]:
        """Return up to `limit` codes of an owner's links that are not removed, unordered."""
        ...

    async def removed_before(self, moment: datetime, limit: int) -> list[str]:
        """Return codes of links removed at a moment or before, the first removed first."""
        ...

    async def codes_after(self, code: str, limit: int) -> list[str]:
        """Return codes of links with an owner that follow `code` in the store's order."""
        ...


class LinkLists(Protocol):
    """Pages, totals and rankings of an owner's links."""

    async def page(
        self,
        owner: Account | Guest,
        wanted: Wanted,
        order: LinkOrder,
        after: Position | None,
        limit: int,
        now: datetime,
    ) -> list[Link]:
        """Return a page of the wanted links by age (NEWEST or OLDEST), starting after `after`."""
        ...

    async def count(self, owner: Account | Guest, wanted: Wanted, now: datetime) -> int:
        """Return how many of an owner's links are wanted."""
        ...

    async def ranking(self, owner: Account | Guest, wanted: Wanted, now: datetime) -> list[str]:
        """Return the codes of the wanted links, the most visited first."""
        ...

    async def kept_ranking(
        self, owner: Account | Guest, key: str, start: int, limit: int, now: datetime
    ) -> list[str] | None:
        """Return up to `limit` codes of a kept ranking; None where it is not kept any more."""
        ...

    async def mark_expired(self, now: datetime, limit: int) -> bool:
        """Mark up to `limit` links that have expired; return whether there may be others.

        Lists are right without it. A store may need it to list them fast.
        """
        ...


class ViewCounts(Protocol):
    """How often people visited links, as the reconciler reports it."""

    async def note(self, people: Mapping[str, int], cursor: str | None) -> None:
        """Store visits of people by code, then the reconciler's cursor, if one is given.

        Numbers never go down. Codes that hold no link of an owner are ignored.
        """
        ...

    async def cursor(self) -> str | None:
        """Return the cursor that was stored last."""
        ...


class HostIndex(Protocol):
    """Links by the hosts that they lead to (`Link.hosts`)."""

    async def hosts_after(self, host: str, limit: int) -> list[str]:
        """Return the hosts of the next up to `limit` links after a host, in the store's order.

        Empty at the end.
        """
        ...

    async def at(self, host: str, code: str, limit: int) -> list[Link]:
        """Return links that lead to a host and whose codes follow `code` in their order."""
        ...

    async def at_or_below(
        self, host: str, after: HostPlace | None, limit: int
    ) -> tuple[list[Link], HostPlace | None]:
        """Return up to `limit` links that lead to a host or a subdomain of it, and where to go on.

        The second value is None at the end. A link that leads there now and after its expiry may
        come twice.
        """
        ...

    async def listed_after(self, code: str, limit: int) -> list[Link]:
        """Return links that a blocklist blocked and whose codes follow `code` in their order."""
        ...


class ReportReader(Protocol):
    """Reports, as the operator reads them."""

    async def waiting(
        self, after: ReportPlace | None, limit: int
    ) -> tuple[list[tuple[Link, Report]], ReportPlace | None]:
        """Return up to `limit` waiting reports with their links, and where to go on.

        The most often reported links come first, and all reports of one stand together: `limit` is
        at least how many there can be of one link. The second value is None at the end.
        """
        ...

    async def count_waiting(self) -> int:
        """Return how many reports wait for a decision."""
        ...

    async def forget(self, until: datetime, limit: int) -> bool:
        """Delete up to `limit` reports decided on at a moment or before.

        Returns whether there may be others.
        """
        ...


class DecisionReader(Protocol):
    """The operator's decisions and blocked addresses."""

    async def page(self, skip: int, limit: int) -> list[Decision]:
        """Return up to `limit` decisions, newest first, after skipping some."""
        ...

    async def blocked_addresses(self) -> list[BlockedAddress]:
        """Return all blocked addresses, unordered."""
        ...

    async def addresses_version(self) -> int:
        """Return a number that changes whenever the blocked addresses change."""
        ...


class Leases(Protocol):
    """Leases, by which one replica at a time does a job."""

    async def take(self, job: str, holder: str, duration: timedelta, now: datetime) -> bool:
        """Take or renew a lease; return whether the holder has it. No duration gives it back."""
        ...


class SweepProgress(Protocol):
    """How far the last rescan of all links has come."""

    async def get(self) -> Sweep | None:
        """Return the progress that was stored last."""
        ...

    async def put(self, sweep: Sweep) -> None:
        """Store the progress."""
        ...


class ChangeFeed(Protocol):
    """Codes whose short addresses answer differently than before a cursor."""

    async def read_since(self, cursor: str | None) -> FeedPage:
        """Return what was committed after a cursor; None asks for the cursor of now.

        A page has at most `MAX_CHANGES` codes, and scan codes of these links.

        What is read of a code after it came in a page is no older than the change.
        """
        ...


@dataclass(frozen=True, slots=True)
class LinkStore:
    """A store of links: its readers and its transactions."""

    transactions: Transactions
    links: LinkReader
    lists: LinkLists
    views: ViewCounts
    hosts: HostIndex
    reports: ReportReader
    decisions: DecisionReader
    leases: Leases
    sweep: SweepProgress
    changes: ChangeFeed
