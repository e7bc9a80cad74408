"""Interrupted removals can be repeated."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from services.admin import removal
from services.shared.errors import NotFound, Unavailable


class FakeServices:
    """Fakes of the services. `calls_left` calls succeed, then they are unavailable.

    With `loses_answer`, the first call that fails is carried out nevertheless. `scan---1` is the
    scan code of `code0000`.
    """

    def __init__(self, links: int, page: int = 250) -> None:
        self.links = {f"code{n:04}": "id" for n in range(links)} | {"other---": "other"}
        self.counts = set(self.links)
        self.stopped: set[str] = set()
        self.purged: set[str] = set()
        self.accounts = {"ana@b": "id", "bea@b": "other"}
        self.closed: set[str] = set()
        self.calls_left = 1_000_000
        self.loses_answer = False
        self.late: list[int] = []
        """Numbers of links that arrive at the end of each pause."""
        self.services = removal.Services(self, self, self)
        self._page = page

    def _call(self) -> None:
        if not self.calls_left:
            raise Unavailable("A service is unavailable.")
        self.calls_left -= 1

    def _link_code(self, code: str) -> str:
        return "code0000" if code == "scan---1" and "code0000" in self.links else code

    def _answer(self) -> None:
        if not self.calls_left and self.loses_answer:
            raise Unavailable("The answer is lost.")

    async def close_account(self, email: str) -> str:
        self._call()
        if email not in self.accounts:
            raise NotFound("No account.", "NO_ACCOUNT")
        self.closed.add(self.accounts[email])
        return self.accounts[email]

    async def remove_account(self, account: str) -> None:
        self._call()
        assert account in self.closed
        assert account not in self.links.values()
        self.accounts = {key: value for key, value in self.accounts.items() if value != account}

    async def withdraw_link(self, code: str) -> str:
        self._call()
        code = self._link_code(code)
        if code in self.links:
            self.stopped.add(code)
        self._answer()
        return code if code in self.links or code in self.purged else ""

    async def remove_account_links(self, account: str) -> tuple[int, bool]:
        self._call()
        left = [c for c, owner in self.links.items() if owner == account and c not in self.stopped]
        self.stopped.update(left[:100])
        return len(left[:100]), len(left) > 100

    async def account_codes(self, account: str) -> list[str]:
        self._call()
        return [code for code, owner in self.links.items() if owner == account][: self._page]

    async def purge_links(self, codes: Sequence[str]) -> list[str]:
        self._call()
        codes = [self._link_code(code) for code in codes]
        held = {code for code in codes if code in self.links}
        self.purged |= held
        if "code0000" in held:
            self.purged.add("scan---1")
        self.links = {code: owner for code, owner in self.links.items() if code not in held}
        self._answer()
        return [code for code in codes if code in self.purged]

    async def remove_counts(self, codes: Sequence[str]) -> None:
        self._call()
        assert len(codes) <= removal.COUNTS_A_CALL
        assert not [code for code in codes if self.links.get(code) == "id"] or (
            self.stopped.issuperset(codes)
        ), "it is still followed and counted"
        self.counts -= set(codes)
        self._answer()

    async def settled(self, seconds: float) -> None:
        """Add links whose creation was in flight when the account was closed."""
        assert seconds == removal.SETTLE_SECONDS
        for n in range(self.late.pop(0) if self.late else 0):
            self.links[f"late{len(self.late)}{n:03}"] = "id"
            self.counts.add(f"late{len(self.late)}{n:03}")


@pytest.mark.parametrize("page", [250, 1000])
async def test_removing_an_account_removes_links_and_counts(page: int) -> None:
    fakes = FakeServices(links=620, page=page)
    fakes.late = [1, 150]

    assert await removal.remove_account(fakes.services, "ana@b", fakes.settled) == 771

    assert fakes.links == {"other---": "other"}
    assert fakes.counts == {"other---"}
    assert fakes.accounts == {"bea@b": "other"}
    assert len(fakes.purged - {"scan---1"}) == 771


async def test_an_interrupted_removal_of_an_account_can_be_repeated() -> None:
    whole = FakeServices(links=620)
    await removal.remove_account(whole.services, "ana@b", whole.settled)
    calls = 1_000_000 - whole.calls_left
    assert calls > 15
    for broken_at in range(calls):
        fakes = FakeServices(links=620)
        fakes.calls_left = broken_at
        with pytest.raises(Unavailable):
            await removal.remove_account(fakes.services, "ana@b", fakes.settled)
        assert "ana@b" in fakes.accounts, "nothing leads to the rest of it any more"

        fakes.calls_left = 1_000_000
        await removal.remove_account(fakes.services, "ana@b", fakes.settled)

        assert fakes.links == {"other---": "other"}
        assert fakes.counts == {"other---"}
        assert fakes.accounts == {"bea@b": "other"}


@pytest.mark.parametrize("named", ["code0000", "scan---1"])
@pytest.mark.parametrize("loses_answer", [False, True])
async def test_an_interrupted_removal_of_a_link_can_be_repeated(
    named: str, loses_answer: bool
) -> None:
    for succeeding in range(loses_answer, 3 + loses_answer):
        fakes = FakeServices(links=1)
        fakes.calls_left, fakes.loses_answer = succeeding, loses_answer
        with pytest.raises(Unavailable):
            await removal.remove_link(fakes.services, named)
        fakes.calls_left = 1_000_000

        for _ in range(2):
            assert await removal.remove_link(fakes.services, named)
        assert fakes.links == {"other---": "other"}
        assert fakes.counts == {"other---"}


async def test_removing_something_unknown_fails() -> None:
    fakes = FakeServices(links=1)

    assert not await removal.remove_link(fakes.services, "unknown-")
    with pytest.raises(NotFound):
        await removal.remove_account(fakes.services, "eva@b", fakes.settled)
    assert len(fakes.links) == len(fakes.counts) == 2
