"""The tables of links in an SQLite file, and how they came to be."""

from __future__ import annotations

import sqlite3

from services.links import decisions_sqlite as decisions
from services.links import reports_sqlite as reports
from services.links.domain import LinkState
from services.links.hosts import host_key
from services.links.rows_sqlite import SEARCHED
from services.links.texts import folded
from services.runtime.sqlite import functions


def _by_owner(connection: sqlite3.Connection) -> None:
    """Lay links by owner and age, and give them all that they can have today."""
    for statement in _BY_OWNER:
        connection.execute(statement)
    with functions(connection, folded=folded):
        connection.execute(f"UPDATE links SET folded = folded({SEARCHED}) WHERE {_NOT_ASCII}")


def _turn_hosts(connection: sqlite3.Connection) -> None:
    """Lay hosts so that those below a host lie behind it."""
    with functions(connection, host_key=host_key):
        for statement in _TURNED_HOSTS:
            connection.execute(statement)


# Moments are microseconds since the Unix epoch.
MIGRATIONS = (
    """
    CREATE TABLE links (
        code TEXT PRIMARY KEY,
        url TEXT NOT NULL,
        creator TEXT,  -- the owner: id of an account, or as a blob the hash of a guest's key
        created_at INTEGER NOT NULL  -- microseconds since the Unix epoch
    ) WITHOUT ROWID;
    CREATE INDEX links_of_creator ON links (creator, created_at, code) WHERE creator IS NOT NULL;
    """,
    """
    -- Codes whose link was purged: they are never given out again.
    CREATE TABLE removed_codes (code TEXT PRIMARY KEY) WITHOUT ROWID;
    """,
    """
    -- Which links changed. Numbers have no gap: SQLite gives the one after the highest.
    CREATE TABLE announcements (
        number INTEGER PRIMARY KEY,
        codes TEXT NOT NULL,  -- with a blank between them
        announced_at INTEGER NOT NULL  -- microseconds since the Unix epoch
    );
    """,
    _by_owner,
    """
    ALTER TABLE links ADD COLUMN listed TEXT;  -- the list that blocked it
    ALTER TABLE links ADD COLUMN spared INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX links_by_list ON links (code) WHERE listed IS NOT NULL;
    CREATE TABLE hosts (
        host TEXT NOT NULL,
        code TEXT NOT NULL,
        PRIMARY KEY (host, code)
    ) WITHOUT ROWID;
    -- Up to which code the hosts of older links are in there; no row: of all.
    CREATE TABLE hosts_noted (id INTEGER PRIMARY KEY CHECK (id = 1), code TEXT NOT NULL);
    INSERT INTO hosts_noted SELECT 1, '' WHERE EXISTS (SELECT 1 FROM links);
    CREATE TABLE sweep (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        contents TEXT NOT NULL,
        round INTEGER NOT NULL,
        stage TEXT NOT NULL,
        after TEXT NOT NULL
    );
    """,
    reports.MIGRATION,
    decisions.MIGRATION,
    """
    ALTER TABLE links ADD COLUMN scan_code TEXT;  -- a code that no other row has as its code
    CREATE UNIQUE INDEX links_by_scan_code ON links (scan_code) WHERE scan_code IS NOT NULL;
    """,
    _turn_hosts,
    """
    -- How often people visited a link; no row: never.
    CREATE TABLE views (code TEXT PRIMARY KEY, people INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO views SELECT code, people FROM links WHERE people > 0 ORDER BY code;
    ALTER TABLE links DROP COLUMN people;
    CREATE TRIGGER views_forgotten AFTER DELETE ON links
    BEGIN
        DELETE FROM views WHERE code = old.code;
    END;
    """,
    # Pages and totals of links in one state (see `Select`).
    f"""
    ALTER TABLE links ADD COLUMN marked_expired INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE links ADD COLUMN state TEXT AS (
        CASE WHEN removed_at IS NOT NULL THEN '{LinkState.REMOVED.value}'
            WHEN blocked IS NOT NULL THEN '{LinkState.BLOCKED.value}'
            WHEN marked_expired THEN '{LinkState.EXPIRED.value}'
            ELSE '{LinkState.ACTIVE.value}' END
    );
    CREATE INDEX links_by_state
    ON links (creator, state, created_at, code, expires_at, removed_at) WHERE creator <> '';
    CREATE INDEX links_unmarked ON links (creator, expires_at)
    WHERE state = '{LinkState.ACTIVE.value}' AND expires_at IS NOT NULL;
    CREATE INDEX links_to_mark ON links (expires_at)
    WHERE marked_expired = 0 AND expires_at IS NOT NULL;
    DROP TRIGGER link_counted;
    DROP TRIGGER link_discounted;
    DROP TRIGGER link_recounted;
    DROP TABLE owners;
    -- How many links an owner has in each state.
    CREATE TABLE owners (
        creator NOT NULL,
        state TEXT NOT NULL,
        links INTEGER NOT NULL,
        PRIMARY KEY (creator, state)
    ) WITHOUT ROWID;
    INSERT INTO owners SELECT creator, state, count(*) FROM links
    WHERE creator <> '' GROUP BY creator, state;
    CREATE TRIGGER link_counted AFTER INSERT ON links WHEN new.creator <> ''
    BEGIN
        INSERT INTO owners VALUES (new.creator, new.state, 1)
        ON CONFLICT (creator, state) DO UPDATE SET links = links + 1;
    END;
    CREATE TRIGGER link_discounted AFTER DELETE ON links WHEN old.creator <> ''
    BEGIN
        UPDATE owners SET links = links - 1 WHERE creator = old.creator AND state = old.state;
        DELETE FROM owners WHERE creator = old.creator AND state = old.state AND links = 0;
    END;
    CREATE TRIGGER link_recounted
    AFTER UPDATE OF creator, removed_at, blocked, marked_expired ON links
    WHEN (old.creator, old.state) IS NOT (new.creator, new.state)
    BEGIN
        UPDATE owners SET links = links - 1 WHERE creator = old.creator AND state = old.state;
        DELETE FROM owners WHERE creator = old.creator AND state = old.state AND links = 0;
        INSERT INTO owners SELECT new.creator, new.state, 1 WHERE new.creator <> ''
        ON CONFLICT (creator, state) DO UPDATE SET links = links + 1;
    END;
    """,
)
_TURNED_HOSTS = (
    """
    CREATE TABLE turned_hosts (
        key TEXT NOT NULL,  -- the host, turned round
        code TEXT NOT NULL,
        PRIMARY KEY (key, code)
    ) WITHOUT ROWID
    """,
    "INSERT INTO turned_hosts SELECT host_key(host), code FROM hosts ORDER BY 1, 2",
    "DROP TABLE hosts",
    "ALTER TABLE turned_hosts RENAME TO hosts",
    # How far it is was said in the order of before: it begins anew.
    "DELETE FROM sweep WHERE stage = 'blocking'",
)
_BY_OWNER = (
    """
    CREATE TABLE links_by_owner (
        creator NOT NULL DEFAULT '',  -- as before, and empty for nobody
        created_at INTEGER NOT NULL,
        code TEXT NOT NULL,
        removed_at INTEGER,
        expires_at INTEGER,
        blocked TEXT,  -- the reason
        people INTEGER NOT NULL DEFAULT 0,  -- how often they visited it
        url TEXT NOT NULL,
        title TEXT NOT NULL DEFAULT '',
        tags TEXT NOT NULL DEFAULT '',  -- a line each
        folded TEXT,  -- what it is searched in, where that is not ASCII
        changed_at INTEGER,
        created_url TEXT NOT NULL DEFAULT '',
        ended_url TEXT NOT NULL DEFAULT '',
        public_statistics INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (creator, created_at, code)
    ) WITHOUT ROWID
    """,
    """
    INSERT INTO links_by_owner (creator, created_at, code, url)
    SELECT coalesce(creator, ''), created_at, code, url FROM links ORDER BY 1, 2, 3
    """,
    "DROP TABLE links",
    "ALTER TABLE links_by_owner RENAME TO links",
    "CREATE UNIQUE INDEX links_by_code ON links (code)",
    "CREATE INDEX links_by_removal ON links (removed_at) WHERE removed_at IS NOT NULL",
    # How many links an owner has that are not removed: to count 100,000 takes 10 ms.
    "CREATE TABLE owners (creator PRIMARY KEY NOT NULL, links INTEGER NOT NULL) WITHOUT ROWID",
    "INSERT INTO owners SELECT creator, count(*) FROM links WHERE creator <> '' GROUP BY creator",
    """
    CREATE TRIGGER link_counted AFTER INSERT ON links
    WHEN new.removed_at IS NULL AND new.creator <> ''
    BEGIN
        INSERT INTO owners VALUES (new.creator, 1)
        ON CONFLICT (creator) DO UPDATE SET links = links + 1;
    END
    """,
    """
    CREATE TRIGGER link_discounted AFTER DELETE ON links
    WHEN old.removed_at IS NULL AND old.creator <> ''
    BEGIN
        UPDATE owners SET links = links - 1 WHERE creator = old.creator;
        DELETE FROM owners WHERE creator = old.creator AND links = 0;
    END
    """,
    """
    CREATE TRIGGER link_recounted AFTER UPDATE OF creator, removed_at ON links
    WHEN (old.creator, old.removed_at IS NULL) IS NOT (new.creator, new.removed_at IS NULL)
    BEGIN
        UPDATE owners SET links = links - 1
        WHERE old.removed_at IS NULL AND creator = old.creator;
        DELETE FROM owners WHERE creator = old.creator AND links = 0;
        INSERT INTO owners SELECT new.creator, 1
        WHERE new.removed_at IS NULL AND new.creator <> ''
        ON CONFLICT (creator) DO UPDATE SET links = links + 1;
    END
    """,
    """
    CREATE TABLE former_urls (
        code TEXT NOT NULL,
        number INTEGER NOT NULL,  -- from 1 on
        url TEXT NOT NULL,
        until INTEGER NOT NULL,
        PRIMARY KEY (code, number)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE rankings (
        creator NOT NULL,
        key TEXT NOT NULL,
        start INTEGER NOT NULL,  -- the place of the first of the codes
        codes TEXT NOT NULL,  -- with a blank between them
        kept_at INTEGER NOT NULL,
        PRIMARY KEY (creator, key, start)
    )
    """,
    "CREATE INDEX rankings_by_age ON rankings (kept_at)",
    "CREATE TABLE rank_mark (id INTEGER PRIMARY KEY CHECK (id = 1), mark INTEGER NOT NULL)",
    """
    CREATE TABLE leases (
        job TEXT PRIMARY KEY,
        holder TEXT NOT NULL,
        ends_at INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
)
_NOT_ASCII = f"({SEARCHED}) GLOB '*[^' || char(1) || '-' || char(127) || ']*'"
