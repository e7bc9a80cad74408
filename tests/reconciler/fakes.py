"""Fakes that the tests of the jobs share: all services, a clock, and a failing call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from services.reconciler.ports import Services, ViewChanges
from services.shared.errors import Unavailable


class World:
    """An in-memory fake of all services.

    Before each call it calls `before` with the name of the call, where a test can raise an error or
    change the state.
    """

    def __init__(self) -> None:
        self.owners: dict[str, str] = {}
        self.removed: set[str] = set()
        self.old: list[str] = []
        """Links whose removal can no longer be undone."""
        self.purged: set[str] = set()
        self.closed: list[str] = []
        self.gone: list[str] = []
        self.counts: dict[str, int] = {}
        self.changes: list[list[str]] = []
        """The change feed. A cursor is the number of changes before it."""
        self.deleted = 0
        """Number of the oldest changes that the feed no longer has."""
        self.views: dict[str, int] = {}
        self.cursor: str | None = None
        self.leases: dict[str, str] = {}
        self.calls: list[str] = []
        self.before: Callable[[str], None] = lambda name: None
        self.services = Services(self, self, self)

    def _call(self, name: str) -> None:
        self.calls.append(name)
        self.before(name)

    def visit(self, *codes: str) -> None:
        for code in codes:
            self.counts[code] = self.counts.get(code, 0) + 1
        self.changes.append(list(codes))

    async def close_account(self, email: str) -> str:
        raise NotImplementedError

    async def closed_accounts(self) -> list[str]:
        self._call("closed_accounts")
        return list(self.closed)

    async def remove_account(self, account: str) -> None:
        self._call("remove_account")
        assert account not in self.owners.values()
        if account in self.closed:
            self.closed.remove(account)
            self.gone.append(account)

    async def withdraw_link(self, code: str) -> str:
        raise NotImplementedError

    async def remove_account_links(self, account: str) -> tuple[int, bool]:
        self._call("remove_account_links")
        left = [c for c, owner in self.owners.items() if owner == account and c not in self.removed]
        self.removed.update(left[:1000])
        return len(left[:1000]), len(left) > 1000

    async def account_codes(self, account: str) -> list[str]:
        self._call("account_codes")
        return [code for code, owner in self.owners.items() if owner == account][:1000]

    async def purge_links(self, codes: Sequence[str]) -> list[str]:
        self._call("purge_links")
        assert not set(codes) & self.counts.keys(), "its counts would never be deleted"
        self.purged.update(codes)
        self.old = [code for code in self.old if code not in self.purged]
        self.owners = {c: owner for c, owner in self.owners.items() if c not in self.purged}
        return list(codes)

    async def purgeable_links(self) -> list[str]:
        self._call("purgeable_links")
        return self.old[:1000]

    async def codes_after(self, code: str) -> list[str]:
        self._call("codes_after")
        return sorted(owned for owned in self.owners if owned > code)[:1000]

    async def store_views(self, views: Mapping[str, int], cursor: str | None) -> None:
        self._call("store_views")
        assert len(views) <= 1000
        for code, count in views.items():
            self.views[code] = max(self.views.get(code, 0), count)
        if cursor is not None:
            self.cursor = cursor

    async def views_cursor(self) -> str | None:
        self._call("views_cursor")
        return self.cursor

    async def remove_counts(self, codes: Sequence[str]) -> None:
        self._call("remove_counts")
        assert len(codes) <= 100
        for code in codes:
            self.counts.pop(code, None)

    async def view_changes(self, cursor: str | None) -> ViewChanges:
        self._call("view_changes")
        last = len(self.changes)
        if cursor is None:
            return ViewChanges(str(last), {})
        start = int(cursor)
        if start < self.deleted or start > last:
            return ViewChanges(str(last), {}, truncated=True)
        page = self.changes[start : start + 1]
        views = {code: self.counts[code] for codes in page for code in codes}
        return ViewChanges(str(start + len(page)), views, more=start + 1 < last)

    async def views_of(self, codes: Sequence[str]) -> dict[str, int]:
        self._call("views_of")
        assert len(codes) <= 1000
        return {code: self.counts[code] for code in codes if code in self.counts}

    async def take_lease(self, job: str, holder: str, seconds: int) -> bool:
        self._call("take_lease")
        if self.leases.get(job, holder) != holder:
            return False
        if seconds:
            self.leases[job] = holder
        else:
            self.leases.pop(job, None)
        return bool(seconds)


class Clock:
    """Stands still unless a test advances it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Broken:
    """Lets the n-th call fail."""

    def __init__(self, at: int) -> None:
        self._left = at

    def __call__(self, _name: str) -> None:
        self._left -= 1
        if self._left == -1:
            raise Unavailable("A service is unavailable.")
