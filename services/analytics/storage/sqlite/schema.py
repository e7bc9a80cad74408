"""The schema of the analytics store in an SQLite file."""

from __future__ import annotations

from services.shared.sqlite import Migration

MIGRATIONS: tuple[Migration, ...] = (
    """
    CREATE TABLE gateways (
        id TEXT PRIMARY KEY,
        last_batch INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE totals (
        code TEXT PRIMARY KEY,
        people INTEGER NOT NULL,
        bots INTEGER NOT NULL,
        days BLOB NOT NULL,  -- `day_ranges`
        aggregated INTEGER NOT NULL,  -- aggregates of blocks with lower numbers are valid
        revision INTEGER NOT NULL  -- changes with late visits
    ) WITHOUT ROWID;
    -- The day comes first in this key, so that rows written at the same time are adjacent.
    CREATE TABLE days (
        day INTEGER NOT NULL,  -- since the Unix epoch
        code TEXT NOT NULL,
        counts BLOB NOT NULL,  -- `records`
        sketch BLOB NOT NULL,  -- `hyperloglog`
        PRIMARY KEY (day, code)
    ) WITHOUT ROWID;
    CREATE TABLE aggregates (
        code TEXT NOT NULL,
        block INTEGER NOT NULL,
        packed BLOB NOT NULL,  -- `aggregates`, compressed by zlib
        PRIMARY KEY (code, block)
    ) WITHOUT ROWID;
    CREATE TABLE visitor_keys (
        day INTEGER PRIMARY KEY,
        key BLOB NOT NULL
    );
    -- The change feed. SQLite gives a new row the highest number plus one.
    CREATE TABLE changes (
        number INTEGER PRIMARY KEY,
        codes TEXT NOT NULL,  -- separated by spaces
        changed_at INTEGER NOT NULL  -- microseconds since the Unix epoch
    );
    """,
    """
    -- Records that could not be read, as they were. Atajo only deletes them, with their link or at
    -- the end of their retention.
    CREATE TABLE unreadable_totals (
        code TEXT PRIMARY KEY,
        people INTEGER,
        bots INTEGER,
        days BLOB,
        aggregated INTEGER,
        revision INTEGER
    ) WITHOUT ROWID;
    CREATE TABLE unreadable_days (
        day INTEGER NOT NULL,
        code TEXT NOT NULL,
        counts BLOB,
        sketch BLOB,
        PRIMARY KEY (day, code)
    ) WITHOUT ROWID;
    """,
    """
    ALTER TABLE gateways ADD COLUMN visits BLOB NOT NULL DEFAULT x'';  -- `records`
    """,
)
