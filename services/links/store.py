"""What the links service asks of a store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from services.links.blocks import BlockReason
from services.links.decisions import BlockedAddress, Decision
from services.links.domain import Account, FormerUrl, Guest, Link, Resolution
from services.links.edits import Edit
from services.links.hosts import HostPlace
from services.links.listing import LinkOrder, Position, Wanted
from services.links.reports import Report, ReportPlace, Statement
from services.links.stages import Sweep
from services.runtime.feed import Told


class LinkStore(Protocol):
    """Keeps links by unique code. Every method raises Unavailable when the store is away.

    A link whose removal cannot be undone any more (`Link.is_gone_at`) is in no list, though it is
    there until it is purged.
    """

    async def add(self, link: Link) -> Link | None:
        """Store a link whose code is free; returns whichever link now holds the code.

        None when the link that held it was purged, or it is the scan code of one: such a code is
        never free again.
        """
        ...

    async def find(self, code: str) -> Link | None:
        """The link under a code or a scan code, whoever owns it.

        None where there is none or it was purged.
        """
        ...

    async def resolve(self, codes: Sequence[str]) -> list[Resolution]:
        """What those of the codes answer that hold a link, or are the scan code of one, in no
        order."""
        ...

    async def give_scan_code(
        self, owner: Account | Guest, code: str, drawn: Iterator[str], now: datetime
    ) -> str | None:
        """The scan code of an owner's link, whatever its state; one that has none is given one.

        That is the first free one of those `drawn`, and it is taken from then on, as a link's code
        is. It is announced, whether or not this call made it. None where the code does not hold a
        link of the owner, or holds one that is gone at `now`. Wherever the call breaks off, and
        however many make it at once, the link has one scan code in the end. Raises Unavailable
        where none of those drawn is free.
        """
        ...

    def by_owner(self, owner: Account | Guest, page_size: int) -> AsyncIterator[list[Link]]:
        """An owner's links in every state, newest first, in pages; none that is added meanwhile."""
        ...

    async def owned_codes(self, owner: Account | Guest, most: int) -> list[str]:
        """Up to `most` codes of an owner's links in every state but removed, in no order."""
        ...

    async def history(self, code: str) -> list[FormerUrl]:
        """The URLs that a link led to before, the last one first."""
        ...

    async def edit(
        self, owner: Account | Guest | None, codes: Sequence[str], edit: Edit, now: datetime
    ) -> list[Link] | None:
        """Edit links; returns them as they are now, in the order of `codes`.

        None where one of the codes does not hold a link of the owner, whatever its state, or holds
        one that is gone at `now`: then nothing changes. Without an owner, the links of everybody
        are meant. A URL that changes is kept in the link's history with `now`. Each link is as it
        was or as it is to be, whatever breaks off in between; repeating the call does the rest.
        A code is announced together with the scan code of its link. Where a call without an owner
        breaks off ahead of that, `announce_left` does it.
        Raises TooManyUrls for a new URL of a link whose history is full.
        """
        ...

    async def announce_left(self, until: datetime) -> None:
        """Announce what calls of `edit` without an owner were to change that began at a moment or
        before, and broke off ahead of their announcement.

        Nobody repeats those with the same links: what is changed already is not found again.
        """
        ...

    async def decide(self, decision: Decision, edit: Edit) -> bool:
        """Edit the link that a decision is about, and keep the decision.

        Reports of a link that is blocked wait no more; their number is kept with the decision.

        False where its code holds no link that is there at the moment of the decision: then nothing
        is kept. All of it is done or nothing, or else, whatever broke off in between, repeating the
        call does the rest and keeps the decision once, with the moment of the repetition.
        """
        ...

    async def block_address(self, blocked: BlockedAddress, decision: Decision) -> None:
        """Block an address, or block it anew, and keep the decision, as `decide` does."""
        ...

    async def unblock_address(self, address: str, decision: Decision) -> bool:
        """Take the block of an address away, and keep the decision, as `decide` does.

        False where it is not blocked: then nothing is kept.
        """
        ...

    async def blocked_addresses(self) -> list[BlockedAddress]:
        """All of them, in no order."""
        ...

    async def addresses_mark(self) -> int:
        """A number that is another one whenever the blocked addresses are other ones."""
        ...

    async def decisions(self, skip: int, most: int) -> list[Decision]:
        """Up to `most` decisions, newest first, behind so many of them."""
        ...

    async def claim(self, guest: Guest, account: Account, most: int) -> int:
        """Give up to `most` of a guest's links to an account; returns how many moved."""
        ...

    async def withdraw(self, account: Account, most: int, now: datetime) -> int:
        """Make up to `most` of an account's links gone at `now`; returns how many.

        They lead nowhere, nobody is shown their destinations, and they cannot be restored. Takes
        links that their owner removed before, too. Their codes and scan codes are announced.
        """
        ...

    async def page(
        self,
        owner: Account | Guest,
        wanted: Wanted,
        order: LinkOrder,
        after: Position | None,
        limit: int,
        now: datetime,
    ) -> list[Link]:
        """Those of an owner's links that are wanted, by age, from behind a position on.

        `order` is NEWEST or OLDEST.
        """
        ...

    async def count(self, owner: Account | Guest, wanted: Wanted, now: datetime) -> int:
        """How many of an owner's links are wanted."""
        ...

    async def mark_expired(self, now: datetime, limit: int) -> bool:
        """Mark up to `limit` links that have expired; returns whether there may be others.

        Lists are right without it. A store may need it to list them fast.
        """
        ...

    async def ranking(self, owner: Account | Guest, wanted: Wanted, now: datetime) -> list[str]:
        """The codes of those of an owner's links that are wanted, the most visited first."""
        ...

    async def keep_ranking(
        self, owner: Account | Guest, key: str, codes: Sequence[str], now: datetime
    ) -> None:
        """Keep a ranking under a key, so that its pages can be read while views go on.

        Each owner has the last `KEPT_RANKINGS` of them, for `RANKING_KEPT_FOR`.
        """
        ...

    async def kept_ranking(
        self, owner: Account | Guest, key: str, start: int, most: int, now: datetime
    ) -> list[str] | None:
        """Up to `most` codes of a ranking that was kept; None where it is not kept any more."""
        ...

    async def find_all(self, owner: Account | Guest, codes: Sequence[str]) -> list[Link]:
        """The links under those of the codes that are the owner's, in the order of `codes`."""
        ...

    async def rank(self, people: Mapping[str, int], mark: int | None) -> None:
        """Note how often links were visited by people, and then the mark, where one is given.

        A number that is below the one noted before changes nothing, and so does a code that holds
        no link of an owner.
        """
        ...

    async def rank_mark(self) -> int | None:
        """The mark that was noted last."""
        ...

    async def purge(self, codes: Sequence[str], now: datetime) -> list[str]:
        """Delete links for good; returns those of the codes that were purged, now or before.

        Those are announced, whether or not this call changed anything. The scan code of a link goes
        with it: it is announced, too, and stays taken. Codes that no link ever held are left alone,
        and so are scan codes of links that are there.
        """
        ...

    async def report(
        self, code: str, reason: BlockReason, said: Statement, new_id: str
    ) -> str | None:
        """Count a report of a link in whatever state, and keep what was said while there is room.

        Returns the report's id: `new_id` for the first of the link and reason, and that one for
        those that follow. None where no link holds the code.
        """
        ...

    async def reports(
        self, after: ReportPlace | None, most: int
    ) -> tuple[list[tuple[Link, Report]], ReportPlace | None]:
        """Up to `most` of the reports that wait, from behind a place on, with their links.

        The most often reported links come first, and all reports of one stand together: `most` is
        at least how many there can be. With them comes the place to go on behind, None at the end.
        """
        ...

    async def waiting_reports(self) -> int:
        """How many reports wait for a decision."""
        ...

    async def dismiss(self, decision: Decision) -> int:
        """The reports of a link wait no more, all at once; returns how many did.

        The decision is kept with that number, as `decide` does it, or not where none waited. What
        is reported afterwards waits anew.
        """
        ...

    async def forget_reports(self, until: datetime, most: int) -> bool:
        """Delete reports that were decided on at a moment or before, up to `most` at a time.

        Returns whether there may be others.
        """
        ...

    async def removed_before(self, moment: datetime, most: int) -> list[str]:
        """Codes of links that were removed at that moment or before, the first removed first."""
        ...

    async def codes_after(self, code: str, most: int) -> list[str]:
        """Codes of links with an owner that come after `code` in their order."""
        ...

    async def hosts_after(self, host: str, most: int) -> list[str]:
        """Some of the hosts that links lead to (`Link.hosts`), from behind a host on.

        They are in an order of the store's, and those of up to `most` links; none at the end.
        """
        ...

    async def at_host(self, host: str, code: str, most: int) -> list[Link]:
        """Links that lead to a host and whose codes come after `code` in their order."""
        ...

    async def at_or_below(
        self, host: str, after: HostPlace | None, most: int
    ) -> tuple[list[Link], HostPlace | None]:
        """Up to `most` links that lead to a host or to one below it, from behind a place on.

        With them comes the place to go on behind, None at the end. One that leads there now and
        once it is expired may come twice. The cost is that of what is found.
        """
        ...

    async def listed_after(self, code: str, most: int) -> list[Link]:
        """Links that a list blocked and whose codes come after `code` in their order."""
        ...

    async def note_hosts(self, code: str, most: int) -> str | None:
        """Note the hosts of links of the version before, of some whose codes come after `code`.

        Returns the last code that was looked at; None at the end.
        """
        ...

    async def sweep(self) -> Sweep | None:
        """The sweep that was noted last."""
        ...

    async def note_sweep(self, sweep: Sweep) -> None:
        """Note how far a sweep is."""
        ...

    async def take_lease(self, job: str, holder: str, duration: timedelta, now: datetime) -> bool:
        """Take or renew a lease; whether the holder has it now. No duration gives it back."""
        ...

    async def announcements(self, mark: int | None) -> Told:
        """What was announced after a mark; None asks for the mark of now.

        A change is announced once it is stored and before the call that made it returns, so what is
        read of a code after its announcement is no older than the change. Where the call ended in
        between, by a crash or because the store went away, repeating it announces the change.
        Announcements are numbered without a gap, whatever the clocks of those who make them.
        """
        ...
