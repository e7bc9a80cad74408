"""The tables of links in an SQLite file. Moments are microseconds since the Unix epoch."""

from __future__ import annotations

from services.links.domain.link import LinkState

MIGRATIONS = (
    f"""
    -- By owner and age (see `links`).
    CREATE TABLE links (
        creator NOT NULL DEFAULT '',  -- id of an account, or as a blob the hash of a guest's key
        created_at INTEGER NOT NULL,
        code TEXT NOT NULL,
        removed_at INTEGER,
        expires_at INTEGER,
        blocked TEXT,  -- the reason
        url TEXT NOT NULL,
        title TEXT NOT NULL DEFAULT '',
        tags TEXT NOT NULL DEFAULT '',  -- a line each
        folded TEXT,  -- what it is searched in, where that is not ASCII
        changed_at INTEGER,
        created_url TEXT NOT NULL DEFAULT '',
        ended_url TEXT NOT NULL DEFAULT '',
        public_statistics INTEGER NOT NULL DEFAULT 0,
        listed TEXT,  -- the list that blocked it
        spared INTEGER NOT NULL DEFAULT 0,
        spared_at INTEGER,
        scan_code TEXT,  -- a code that no other row has as its code
        marked_expired INTEGER NOT NULL DEFAULT 0,
        state TEXT AS (
            CASE WHEN removed_at IS NOT NULL THEN '{LinkState.REMOVED.value}'
                WHEN blocked IS NOT NULL THEN '{LinkState.BLOCKED.value}'
                WHEN marked_expired THEN '{LinkState.EXPIRED.value}'
                ELSE '{LinkState.ACTIVE.value}' END
        ),
        PRIMARY KEY (creator, created_at, code)
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX links_by_code ON links (code);
    CREATE UNIQUE INDEX links_by_scan_code ON links (scan_code) WHERE scan_code IS NOT NULL;
    CREATE INDEX links_by_removal ON links (removed_at) WHERE removed_at IS NOT NULL;
    CREATE INDEX links_by_list ON links (code) WHERE listed IS NOT NULL;
    -- Pages of links in one state (see `StateList`).
    CREATE INDEX links_by_state
    ON links (creator, state, created_at, code, expires_at, removed_at) WHERE creator <> '';
    CREATE INDEX links_unmarked ON links (creator, expires_at)
    WHERE state = '{LinkState.ACTIVE.value}' AND expires_at IS NOT NULL;
    CREATE INDEX links_to_mark ON links (expires_at)
    WHERE marked_expired = 0 AND expires_at IS NOT NULL;

    -- How many links an owner has in each state.
    CREATE TABLE owners (
        creator NOT NULL,
        state TEXT NOT NULL,
        links INTEGER NOT NULL,
        PRIMARY KEY (creator, state)
    ) WITHOUT ROWID;
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

    -- How often people visited a link; no row: never.
    CREATE TABLE views (code TEXT PRIMARY KEY, people INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TRIGGER views_forgotten AFTER DELETE ON links
    BEGIN
        DELETE FROM views WHERE code = old.code;
    END;
    CREATE TABLE rank_cursor (id INTEGER PRIMARY KEY CHECK (id = 1), cursor TEXT NOT NULL);
    CREATE TABLE rankings (
        creator NOT NULL,
        key TEXT NOT NULL,
        start INTEGER NOT NULL,  -- the place of the first of the codes
        codes TEXT NOT NULL,  -- with a blank between them
        kept_at INTEGER NOT NULL,
        PRIMARY KEY (creator, key, start)
    );
    CREATE INDEX rankings_by_age ON rankings (kept_at);

    -- Codes and scan codes of purged links: they are never given out again.
    CREATE TABLE removed_codes (code TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE former_urls (
        code TEXT NOT NULL,
        number INTEGER NOT NULL,  -- from 1 on
        url TEXT NOT NULL,
        until INTEGER NOT NULL,
        PRIMARY KEY (code, number)
    ) WITHOUT ROWID;
    CREATE TABLE hosts (
        key TEXT NOT NULL,  -- the host with its labels reversed
        code TEXT NOT NULL,
        PRIMARY KEY (key, code)
    ) WITHOUT ROWID;
    CREATE TABLE sweep (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        contents TEXT NOT NULL,
        round INTEGER NOT NULL,
        stage TEXT NOT NULL,
        after TEXT NOT NULL
    );
    CREATE TABLE leases (
        job TEXT PRIMARY KEY,
        holder TEXT NOT NULL,
        ends_at INTEGER NOT NULL
    ) WITHOUT ROWID;

    -- The change feed. SQLite numbers a new row with the number after the highest.
    CREATE TABLE changes (
        number INTEGER PRIMARY KEY,
        codes TEXT NOT NULL,  -- with a blank between them
        changed_at INTEGER NOT NULL
    );

    CREATE TABLE reports (
        code TEXT NOT NULL,
        reason TEXT NOT NULL,
        id TEXT NOT NULL,
        count INTEGER NOT NULL,
        first_at INTEGER NOT NULL,
        last_at INTEGER NOT NULL,
        decided_at INTEGER,  -- null while it waits
        PRIMARY KEY (code, reason)
    ) WITHOUT ROWID;
    CREATE INDEX reports_waiting ON reports (code, count) WHERE decided_at IS NULL;
    CREATE INDEX reports_decided ON reports (decided_at) WHERE decided_at IS NOT NULL;
    CREATE TABLE statements (
        code TEXT NOT NULL,
        reason TEXT NOT NULL,
        number INTEGER NOT NULL,  -- from 1 on
        details TEXT NOT NULL,
        contact TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (code, reason, number)
    ) WITHOUT ROWID;
    CREATE TABLE decisions (
        number INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        code TEXT,
        address TEXT,
        reason TEXT,
        cause TEXT NOT NULL,
        decided_at INTEGER NOT NULL,
        reports INTEGER NOT NULL
    );
    CREATE TABLE blocked_addresses (
        address TEXT PRIMARY KEY,
        reason TEXT NOT NULL,
        blocked_at INTEGER NOT NULL
    ) WITHOUT ROWID;
    """,
)
