"""The privacy page lists everything that is stored, and nothing else.

All tests that use a store check at their end that its contents are listed (`new_store`). This
module fills every field.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import pytest

from gateway.visits.journal import lines
from services.analytics.__main__ import STORE_FACTORIES as ANALYTICS
from services.analytics.domain.batches import Batch
from services.analytics.domain.visits import Dimension, VisitCount, VisitKind
from services.auth.__main__ import STORE_FACTORIES as AUTH
from services.auth.domain.account import Account, Role
from services.auth.domain.api_key import Scope, create_api_key
from services.auth.domain.connection import Connection
from services.auth.domain.decision import Action, create_decision
from services.auth.domain.invitation import create_invitation
from services.auth.domain.passkey import Passkey
from services.auth.domain.recovery_code import RecoveryCode
from services.auth.domain.session import Creator, create_session
from services.links.__main__ import STORE_FACTORIES as LINKS
from services.links.application.creations import Creations
from services.links.application.imports import Imports
from services.links.application.ports import UnitOfWork
from services.links.application.records.rescan_progress import RescanProgress
from services.links.domain import link as links
from services.links.domain import owner as owners
from services.links.domain import report
from services.links.domain.block import BlockReason
from services.links.domain.creations import NewLink
from services.links.domain.decision import BlockedPattern, Decision, DecisionKind
from services.links.domain.edit import LinkChanges, block, removal
from services.links.domain.imports import ImportRow
from services.links.domain.query import LinkFilter
from services.links.domain.url import UrlPolicy
from tests.support import link_operations, stored_fields
from tests.support.mongo import server
from tests.support.store_fixtures import NewStore, open_stores_at
from tests.support.stored_fields import Path

NOW = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
DAY = 20_454
"""2026-01-01."""


@pytest.fixture(scope="module")
def mongo_pool(mongo_server: str) -> NewStore:
    """Return a factory of databases. Reuses none: the services' schemas have different versions."""
    return lambda: server.database(mongo_server)


def _listed(link: links.Link) -> links.Link:
    return replace(link, blocklist="phishing.txt", exempt=True, exempt_since=NOW)


async def fill_links(setting: str) -> None:
    owner, guest = owners.Account("one"), owners.Guest(bytes(32))
    async with open_stores_at(setting, "links", LINKS) as store:
        every_owner: tuple[owners.Owner, ...] = (owner, guest, owners.ANONYMOUS)
        for n, whose in enumerate(every_owner):
            whole = links.Link(
                f"code{n:04}",
                "https://example.com/",
                whose,
                NOW,
                "Un título",
                ("one", "two"),
                expires_at=NOW.replace(microsecond=0),
                ended_url="https://ended.example/",
                public_statistics=True,
            )
            await store.links.add(whole)
            codes = [whole.code]
            changes = LinkChanges(url="https://b.example/")
            urls = UrlPolicy("https://atajo.example")
            await link_operations.edit(store, codes, changes.edit(urls, NOW), NOW)
            if not isinstance(whose, owners.Anonymous):
                await link_operations.give_scan_code(store, whole.code, f"SCAN000{n}", NOW)
            await link_operations.edit(store, codes, block(BlockReason.SPAM), NOW)
            await link_operations.edit(store, codes, removal(NOW), NOW)
        await store.links.add(links.Link("listed--", "https://example.com/", owner, NOW))
        await link_operations.edit(store, ["listed--"], _listed, NOW)
        for reason in BlockReason:
            said = report.to_statement("Stolen passwords", "ana@b.example", NOW)
            await link_operations.report(store, "listed--", reason, said, f"id-{reason.value}")
        await link_operations.report(store, "code0000", BlockReason.SPAM, said, "decided")
        await link_operations.decide_reports(store, "code0000", NOW)
        await store.rescan_progress.put(RescanProgress("contents"))
        spam = BlockReason.SPAM

        def decide(unit: UnitOfWork) -> None:
            unit.decisions.block(BlockedPattern("evil.example", spam, NOW))
            unit.decisions.add(Decision(DecisionKind.BLOCK, NOW, "", "evil.example", spam))
            of_link = Decision(DecisionKind.BLOCK, NOW, "code0001", "", spam, "cause", 2)
            unit.decisions.add(of_link)

        await store.transactions.run("test", decide)
        await store.links.add(links.Link("purged--", "https://example.com/", owner, NOW))
        await link_operations.purge(store, ["purged--"], NOW)
        await store.lists.record_views({"code0000": 7}, "7")
        await link_operations.store_ranking(store, owner, "key", ["code0000"], NOW)
        with patch("services.links.storage.mongo.counts.MAX_UNCACHED", 1):
            await store.lists.count(owner, LinkFilter(), NOW)
        imports = Imports(store, urls, lambda: NOW)
        import_id = "import-aaaaaaaaaaaaaaa"
        await imports.run(owner, import_id, [ImportRow(1, "imported", "https://example.com/")])
        await imports.undo(owner, import_id, None)
        creations = Creations(store, urls, lambda: NOW)
        await creations.run(owner, b"key", bytes(32), [NewLink("https://example.com/")])
        await store.leases.take("purge", "one", timedelta(seconds=5), NOW)


async def fill_auth(setting: str) -> None:
    account = Account("id", "Ana@b", "ana@b", "Ana", "hash", "salt", NOW)
    creator = Creator("session", NOW, "Firefox", "Linux")
    async with open_stores_at(setting, "auth", AUTH) as stores:
        await stores.accounts.add(account)
        session = create_session("id", "Firefox", "Linux", NOW)
        await stores.accounts.change_password(account, "hash", "salt", session, revoke=False)
        account = replace(account, session=1)
        key, _ = create_api_key("id", "Script", list(Scope), NOW + timedelta(days=1), NOW, creator)
        await stores.keys.add(account, key, 1)
        await stores.keys.record_uses({key.key_hash: NOW})
        await stores.recovery_codes.replace(account, [b"hash"], NOW)
        await stores.recovery_codes.put_expiring("id", RecoveryCode(b"one", NOW))
        passkey = Passkey(
            id="credential",
            account_id="id",
            name="Phone",
            public_key=b"key",
            sign_count=0,
            created_at=NOW,
            created_by=creator,
        )
        await stores.passkeys.add(account, passkey, 1)
        await stores.passkeys.record_use(passkey, 1, NOW)
        connection = Connection(
            id="connection",
            account_id="id",
            issuer="https://id.example",
            subject="ana",
            email="ana@example.com",
            created_at=NOW,
        )
        await stores.connections.add(account, connection, 1)
        await stores.connections.record_use(connection, NOW)
        await stores.sessions.record_uses({("id", session.id): NOW + timedelta(hours=1)})
        await stores.sessions.confirm("id", session.id, NOW)
        decision = create_decision(Action.ROLE, "id", "ana@b", NOW, "administrator")
        await stores.accounts.change("id", None, Role.ADMINISTRATOR, {"role": decision})
        invitation, _ = create_invitation("bea@b", Role.MEMBER, NOW)
        await stores.invitations.add(invitation, replace(decision, id="another"))
        other = replace(account, id="other", email_key="other@b", role=Role.ADMINISTRATOR)
        await stores.accounts.add(other)
        await stores.accounts.close(account.email_key)
        await stores.attempts.acquire("key", 5, timedelta(minutes=15), NOW)


async def fill_analytics(setting: str) -> None:
    names = dict.fromkeys(Dimension, "name.example")
    many = frozenset(number << 20 for number in range(1 << 12))
    async with open_stores_at(setting, "analytics", ANALYTICS) as store:
        # Enough days and names, long ago, so that the store aggregates them.
        for number, day in enumerate(range(DAY, DAY + 40), 1):
            person = VisitCount("abcdefgh", 24 * day, VisitKind.PERSON, names, 5000)
            bot = VisitCount("abcdefgh", 24 * day, VisitKind.BOT, {}, 1)
            hosts = ({Dimension.REFERRER: f"{day}-{n}".ljust(100, "x")} for n in range(40))
            others = [replace(person, names=host, count=1) for host in hosts]
            visitors = {(day, "abcdefgh"): many if number % 2 else frozenset({number})}
            await store.apply(Batch("gateway", number, (person, bot, *others), visitors), NOW)
        await store.maintain("", DAY + 400, None)
        await store.visitor_key(DAY, bytes(32))


async def filled(new_store: NewStore) -> set[Path]:
    """Return the fields of the three services, all of them filled."""
    found: set[Path] = set()
    for fill in (fill_links, fill_auth, fill_analytics):
        with new_store() as setting:
            await fill(setting)
            found |= stored_fields.read_fields(setting)
    return found


async def test_every_field_is_listed(new_store: NewStore) -> None:
    assert stored_fields.undocumented(await filled(new_store)) == []


async def test_every_listed_field_exists(new_sqlite: NewStore, new_mongodb: NewStore) -> None:
    found = await filled(new_sqlite) | await filled(new_mongodb)
    for pattern in stored_fields.documented(but=("journal", "browser")):
        assert any(stored_fields.matches(pattern, path) for path in found), ".".join(pattern)


def test_the_journal_is_listed() -> None:
    fields = {*lines.Visit._fields, *lines.Facts._fields} - {"facts"}
    of_journal = {path for path in stored_fields.documented() if path[0] == "journal"}
    assert of_journal == {("journal", field) for field in fields}


@pytest.mark.parametrize("path", ["links.address", "days.nothing.1", "nothing.at.all"])
def test_an_unlisted_field_is_detected(path: str) -> None:
    assert stored_fields.undocumented([tuple(path.split("."))]) == [path]
