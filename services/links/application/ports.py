"""Ports: what the use cases of links require of a store.

Readers run single queries on committed data. A unit of work changes several aggregates and commits
all changes or none. Both raise Unavailable while the store cannot be reached.

Lists never contain a link whose removal can no longer be undone (`Link.is_gone_at`), although it is
stored until it is purged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from services.links.application.records.creations import CreationReader, CreationRepository
from services.links.application.records.decisions import DecisionReader, DecisionRepository
from services.links.application.records.imports import ImportReader, ImportRepository
from services.links.application.records.leases import Leases
from services.links.application.records.rescan_progress import RescanProgressStore
from services.links.domain.block import BlockReason
from services.links.domain.edit import Edit
from services.links.domain.host import HostCursor
from services.links.domain.imports import CodeHolders
from services.links.domain.link import FormerUrl, Link
from services.links.domain.owner import Account, Guest
from services.links.domain.query import AgeCursor, LinkFilter, LinkOrder
from services.links.domain.report import Report, ReportCursor, ReportPage, Statement
from services.links.domain.resolution import Resolution
from services.shared.feed import FeedPage

T = TypeVar("T")

MAX_BATCH = 250
"""Maximum links that one transaction changes. Each takes up to 1 ms on MongoDB, where a transaction
has 2 s."""
MAX_CHANGES = 250
"""Maximum codes on one page of the change feed. 250 resolutions with two 999-character URLs (4
bytes a character) are about 2 MB, half of gRPC's message limit."""


class LinkRepository(Protocol):
    """Links in a unit of work.

    The commit also appends to the change feed the codes and scan codes whose resolutions changed.
    """

    def get(self, codes: Sequence[str]) -> dict[str, Link]:
        """Return the links under those of the codes that have one, by code."""

    def holders(self, codes: Sequence[str]) -> CodeHolders:
        """Return what holds some codes, without `imported`."""

    def add_all(self, links: Sequence[Link], now: datetime) -> None:
        """Store new links whose codes are free. They may date from before `now`."""

    def save(self, updates: Sequence[tuple[Link, Link]], now: datetime) -> None:
        """Store changed links, given as pairs of the link that was read and the new one.

        A changed URL moves into the link's history with `now`. A new scan code becomes taken.
        Raises TooManyUrls if the history of a link is full.
        """

    def reassign(self, guest: Guest, account: Account, limit: int) -> int:
        """Give up to `limit` of a guest's links to an account; return how many moved.

        Deletes the guest's rankings once the guest has no links any more.
        """

    def withdraw(self, account: Account, limit: int, now: datetime) -> int:
        """Remove up to `limit` of an account's links, backdated by `WITHDRAWN_BEFORE`.

        Includes links that their owner removed, except those that are gone at `now`. Returns how
        many were withdrawn.
        """

    def save_ranking(
        self, owner: Account | Guest, key: str, codes: Sequence[str], now: datetime
    ) -> None:
        """Store a ranking under a key for `RANKING_TTL`, so that paging sees a stable order.

        Keeps the last `MAX_STORED_RANKINGS` of an owner.
        """

    def purge(self, codes: Sequence[str], now: datetime) -> list[str]:
        """Delete links with their history, reports and views; codes and scan codes stay taken.

        Also deletes the rankings of owners who have no links left, and the records of the calls
        that created the links (`Creation`), which contain their URLs. Returns those of the codes
        that are purged now, by this call or an earlier one. Ignores codes that never had a link,
        and scan codes of existing links.
        """


class ReportRepository(Protocol):
    """Reports in a unit of work."""

    def add(self, code: str, reason: BlockReason, statement: Statement, new_id: str) -> str:
        """Count a report of an existing link, and store the statement while there is room.

        Returns the report's id: `new_id` for the first report of the link and reason.
        """

    def decide(self, codes: Sequence[str], now: datetime) -> int:
        """Mark the pending reports of links as decided; return their number."""


@dataclass(frozen=True, slots=True)
class UnitOfWork:
    """Repositories whose changes are committed in one transaction."""

    links: LinkRepository
    reports: ReportRepository
    decisions: DecisionRepository
    imports: ImportRepository
    creations: CreationRepository

    def edit(
        self, links: dict[str, Link], codes: Sequence[str], edit: Edit, now: datetime
    ) -> list[Link]:
        """Apply an edit to the `links` that were read under `codes`, and save them.

        Returns them in the order of `codes`.
        """
        edited = {code: edit(links[code]) for code in codes}
        updates = [(links[code], link) for code, link in edited.items() if link != links[code]]
        if updates:
            self.links.save(updates, now)
        return [edited[code] for code in codes]


class Transactions(Protocol):
    """Runs units of work."""

    async def run(self, name: str, work: Callable[[UnitOfWork], T]) -> T:
        """Run `work` in a transaction; return its result after the commit is on disk.

        An exception from `work` rolls the transaction back. `work` runs again after a conflict, so
        it must not change anything but the store. `name` labels the operation in the metrics.
        Raises Unavailable, after which the transaction may or may not be committed.
        """


class LinkReader(Protocol):
    """Links by code and by owner. `add` is here because a single write needs no unit of work."""

    async def add(self, link: Link) -> Link | None:
        """Store a link if its code is free; return the link that now has the code.

        Returns None if the code is a scan code or that of a purged link: it is never free again.
        """

    async def holders(self, codes: Sequence[str]) -> CodeHolders:
        """Return what holds some codes, without `imported`."""

    async def find(self, code: str) -> Link | None:
        """Return the link with a code or a scan code, regardless of owner."""

    async def resolve(self, codes: Sequence[str]) -> list[Resolution]:
        """Return the resolutions of those of the codes and scan codes that exist, unordered.

        Raises UnreadableLinks, with the others, if some cannot be read.
        """

    async def find_all(self, owner: Account | Guest, codes: Sequence[str]) -> list[Link]:
        """Return the links under those of the codes that are the owner's, in the codes' order."""

    async def history(self, code: str) -> list[FormerUrl]:
        """Return the previous URLs of a link, the most recent first."""

    async def link_code(self, code: str) -> str | None:
        """Return the code of the link with a code or a scan code, also if it cannot be read."""

    async def page_of_all(
        self, account: Account, after: AgeCursor | None, limit: int
    ) -> list[AgeCursor]:
        """Return the next of an account's links in every state, oldest first, after a link."""

    async def count_stored(self) -> int:
        """Return the number of links of all owners in every state, without purged ones.

        In bounded time: a large number may be an estimate.
        """

    async def all_codes(self, owner: Account | Guest, limit: int) -> list[str]:
        """Return codes of an owner's newest links in every state, newest first, at most `limit`."""

    async def owned_codes(self, owner: Account | Guest, limit: int) -> list[str]:
        """Return up to `limit` codes of an owner's links that are not removed, unordered."""

    async def removed_before(self, moment: datetime, limit: int) -> list[str]:
        """Return codes of links removed at a moment or before, in the order of removal."""

    async def codes_after(self, code: str, limit: int) -> list[str]:
        """Return codes of links with an owner that follow `code` in the store's order."""


class LinkLists(Protocol):
    """Pages, totals and rankings of an owner's links, and how many people visited each."""

    async def page(
        self,
        owner: Account | Guest,
        link_filter: LinkFilter,
        order: LinkOrder,
        after: AgeCursor | None,
        limit: int,
        now: datetime,
    ) -> list[Link]:
        """Return a page of the matching links by age (NEWEST or OLDEST), starting after `after`."""

    async def count(self, owner: Account | Guest, link_filter: LinkFilter, now: datetime) -> int:
        """Return how many of an owner's links match."""

    async def count_all(self, owner: Account | Guest, now: datetime) -> int:
        """Return how many links an owner has, including those that await their purge."""

    async def ranking(
        self, owner: Account | Guest, link_filter: LinkFilter, now: datetime
    ) -> list[str]:
        """Return the codes of the matching links, the most visited first."""

    async def stored_ranking(
        self, owner: Account | Guest, key: str, start: int, limit: int, now: datetime
    ) -> list[str] | None:
        """Return up to `limit` codes of a stored ranking from `start`; None if it has expired."""

    async def mark_expired(self, now: datetime, limit: int) -> bool:
        """Mark up to `limit` links that have expired; return whether there may be more.

        Lists are correct without it. A store may need it for speed.
        """

    async def record_views(self, people: Mapping[str, int], cursor: str | None) -> None:
        """Store numbers of visits by code, then the reconciler's cursor, if one is given.

        Numbers never decrease. Ignores codes of anonymous links and unknown codes.
        """

    async def view_cursor(self) -> str | None:
        """Return the cursor that was stored last."""


class HostIndex(Protocol):
    """Links by the hosts of their destinations (`Link.hosts`)."""

    async def hosts_after(self, host: str, limit: int) -> list[str]:
        """Return the hosts of up to `limit` links after a host, in the store's order.

        Empty at the end.
        """

    async def at(
        self, host: str, after: HostCursor | None, limit: int, *, with_subdomains: bool = False
    ) -> tuple[list[Link], HostCursor | None]:
        """Return up to `limit` links that lead to a host, or a subdomain, and the next cursor.

        The cursor is None at the end. A link whose destinations are both there may come twice.
        """

    async def listed_after(self, code: str, limit: int) -> list[Link]:
        """Return links that a blocklist blocked, in the order of codes, after `code`."""


class ReportReader(Protocol):
    """Reports for the operator."""

    async def pending(self, after: ReportCursor | None, limit: int) -> ReportPage:
        """Return up to `limit` pending reports with their links.

        The most often reported links come first. All reports of a link are on one page, so `limit`
        must be at least the number of reasons.
        """

    async def pending_of(self, code: str) -> list[Report]:
        """Return the pending reports of a link, the most frequent first."""

    async def count_pending(self) -> int:
        """Return the number of pending reports."""

    async def oldest_pending(self) -> datetime | None:
        """Return when the report was made that has been pending longest; None without one."""

    async def delete_decided(self, until: datetime, limit: int) -> bool:
        """Delete up to `limit` reports that were decided on at a moment or before.

        Returns whether there may be more.
        """


class ChangeFeed(Protocol):
    """Codes and scan codes whose resolutions changed."""

    async def read_since(self, cursor: str | None) -> FeedPage:
        """Return a page of changes after a cursor; None returns the cursor of now.

        A page has at most `MAX_CHANGES` codes, plus scan codes of these links. Reading a code after
        receiving it returns the change or something newer.
        """


@dataclass(frozen=True, slots=True)
class LinkStore:
    """A store of links: its readers and transactions."""

    transactions: Transactions
    links: LinkReader
    lists: LinkLists
    hosts: HostIndex
    reports: ReportReader
    decisions: DecisionReader
    imports: ImportReader
    creations: CreationReader
    leases: Leases
    rescan_progress: RescanProgressStore
    change_feed: ChangeFeed
