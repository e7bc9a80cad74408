"""Values of auth entities, and what tests of the stores ask."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, cast

from services.auth.application.stores import Stores
from services.auth.domain.account import Account
from services.auth.domain.api_key import ApiKey, Scope
from services.auth.domain.connection import Connection, connection_id
from services.auth.domain.passkey import Passkey
from services.auth.domain.session import Creator, Session
from services.shared import sqlite

NOW = datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
WINDOW = timedelta(minutes=15)
ANA = Account(
    id="5f0c9a2b1d3e4f5061728394",
    email="Ana@Example.com",
    email_key="ana@example.com",
    username="Ana Ñandú \U0001f600",
    password_hash="$2b$10$SyUprZHiLhjegFiZXUd9DugETUgNx365Jd08EgrysGg4m0CYn2Dwi",
    salt="$2b$10$SyUprZHiLhjegFiZXUd9Du",
    created_at=NOW,
    last_seen_at=NOW.replace(minute=0, second=0, microsecond=0),
)
BEA = replace(ANA, id="6a1d0b3c2e4f506172839405", email="bea@b", email_key="bea@b", username="Bea")

CREATOR = Creator("89abcdef0123456789abcdef", NOW, "Firefox", "Linux")

KEY = ApiKey(
    id="0123456789abcdef01234567",
    account_id=ANA.id,
    key_hash=bytes(range(32)),
    name="Script \U0001f600",
    prefix="atajo_Zz09aA",
    scopes=(Scope.LINKS_READ, Scope.STATISTICS_READ),
    created_at=NOW,
    expires_at=NOW + timedelta(days=1, microseconds=1),
    created_by=CREATOR,
)

PASSKEY = Passkey(
    id="AAECAwQFBgcICQoLDA0ODw",
    account_id=ANA.id,
    name="Phone \U0001f600",
    public_key=bytes(range(77)),
    sign_count=0,
    created_at=NOW,
    created_by=CREATOR,
)

ISSUER = "https://id.example"
CONNECTION = Connection(
    id=connection_id(ISSUER, "ana \U0001f600"),
    account_id=ANA.id,
    issuer=ISSUER,
    subject="ana \U0001f600",
    email="ana@work.example",
    created_at=NOW,
)

SESSION = Session(
    id="89abcdef0123456789abcdef",
    account_id=ANA.id,
    created_at=NOW,
    expires_at=NOW + timedelta(hours=4),
    last_seen_at=NOW.replace(minute=0, second=0, microsecond=0),
    browser="Firefox",
    system="Linux",
)


def numbered_key(number: int, account: Account = ANA) -> ApiKey:
    """Return one of many keys of an account."""
    name = f"{account.id}{number}"
    return replace(
        KEY, id=f"{number:024x}", account_id=account.id, key_hash=sha256(name.encode()).digest()
    )


def numbered_session(number: int, **changes: Any) -> Session:
    """Return one of many sessions of an account, each a second after the one before."""
    begins = NOW + timedelta(seconds=number)
    times = {"created_at": begins, "expires_at": begins + timedelta(hours=4)}
    return replace(SESSION, id=f"{number:024x}", **{**times, **changes})


def numbered_passkey(number: int, account: Account = ANA) -> Passkey:
    """Return one of many passkeys of an account."""
    return replace(PASSKEY, id=f"{account.id}-{number}", account_id=account.id)


def numbered_connection(number: int, account: Account = ANA) -> Connection:
    """Return one of many connections of an account."""
    subject = f"{account.id}-{number}"
    return replace(
        CONNECTION,
        id=connection_id(ISSUER, subject),
        account_id=account.id,
        subject=subject,
    )


CODES = [bytes([number]) * 32 for number in range(10)]


async def session_ids(stores: Stores, account: Account = ANA) -> set[str]:
    return {session.id for session in await stores.sessions.list_all(account.id)}


async def code_hashes(stores: Stores, account: Account = ANA) -> set[bytes]:
    return {code.hash for code in await stores.recovery_codes.list_all(account.id)}


async def damage(stores: Stores, part: str, record_id: tuple[str, Any], **changes: Any) -> None:
    """Set fields of the record of ANA that has a value in a field. No version stores them so.

    `part` is the table in SQLite, and the field of the account's document in MongoDB.
    """
    database = cast("Any", stores.accounts)._backend._database
    field, value = record_id
    if isinstance(database, sqlite.Database):
        assignments = ", ".join(f"{name} = ?" for name in changes)
        statement = f"UPDATE {part} SET {assignments} WHERE {field} = ?"
        values = (*changes.values(), value)
        await database.write("test", lambda connection: connection.execute(statement, values))
    elif part == "accounts":
        await database.write(
            "test", lambda db: db.accounts.update_one({"_id": ANA.id}, {"$set": changes})
        )
    else:
        query = {"_id": ANA.id, f"{part}.{field}": value}
        fields = {f"{part}.$.{name}": new for name, new in changes.items()}
        await database.write("test", lambda db: db.accounts.update_one(query, {"$set": fields}))
