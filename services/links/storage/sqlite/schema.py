"""The tables of links in an SQLite file. Moments are microseconds since the Unix epoch.

A step is never changed once released, so its SQL contains no constants from the code. What its
comments call `StateList` is in `owner_query` now.
"""

from __future__ import annotations

MIGRATIONS = (
    """
    -- Clustered by owner and age (see `links`).
    CREATE TABLE links (
        creator NOT NULL DEFAULT '',  -- an account's id, or the hash of a guest's key as a blob
        created_at INTEGER NOT NULL,
        code TEXT NOT NULL,
        removed_at INTEGER,
        expires_at INTEGER,
        blocked TEXT,  -- the reason
        url TEXT NOT NULL,
        title TEXT NOT NULL DEFAULT '',
        tags TEXT NOT NULL DEFAULT '',  -- one per line
        folded TEXT,  -- the search text if it is not ASCII
        changed_at INTEGER,
        created_url TEXT NOT NULL DEFAULT '',
        ended_url TEXT NOT NULL DEFAULT '',
        public_statistics INTEGER NOT NULL DEFAULT 0,
        listed TEXT,  -- the blocklist that blocked it
        spared INTEGER NOT NULL DEFAULT 0,
        spared_at INTEGER,
        scan_code TEXT,  -- never the code of another row
        marked_expired INTEGER NOT NULL DEFAULT 0,
        state TEXT AS (
            CASE WHEN removed_at IS NOT NULL THEN 'removed'
                WHEN blocked IS NOT NULL THEN 'blocked'
                WHEN marked_expired THEN 'expired'
                ELSE 'active' END
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
    WHERE state = 'active' AND expires_at IS NOT NULL;
    CREATE INDEX links_to_mark ON links (expires_at)
    WHERE marked_expired = 0 AND expires_at IS NOT NULL;

    -- The number of an owner's links in each state.
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

    -- The number of visits by people; no row for none.
    CREATE TABLE views (code TEXT PRIMARY KEY, people INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TRIGGER views_forgotten AFTER DELETE ON links
    BEGIN
        DELETE FROM views WHERE code = old.code;
    END;
    CREATE TABLE rank_cursor (id INTEGER PRIMARY KEY CHECK (id = 1), cursor TEXT NOT NULL);
    CREATE TABLE rankings (
        creator NOT NULL,
        key TEXT NOT NULL,
        start INTEGER NOT NULL,  -- the index of the first of the codes
        codes TEXT NOT NULL,  -- separated by spaces
        kept_at INTEGER NOT NULL,
        PRIMARY KEY (creator, key, start)
    );
    CREATE INDEX rankings_by_age ON rankings (kept_at);

    -- Codes and scan codes of purged links, which are never reused.
    CREATE TABLE removed_codes (code TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE former_urls (
        code TEXT NOT NULL,
        number INTEGER NOT NULL,  -- from 1
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
        codes TEXT NOT NULL,  -- separated by spaces
        changed_at INTEGER NOT NULL
    );

    CREATE TABLE reports (
        code TEXT NOT NULL,
        reason TEXT NOT NULL,
        id TEXT NOT NULL,
        count INTEGER NOT NULL,
        first_at INTEGER NOT NULL,
        last_at INTEGER NOT NULL,
        decided_at INTEGER,  -- null while it is pending
        PRIMARY KEY (code, reason)
    ) WITHOUT ROWID;
    CREATE INDEX reports_waiting ON reports (code, count) WHERE decided_at IS NULL;
    CREATE INDEX reports_decided ON reports (decided_at) WHERE decided_at IS NOT NULL;
    CREATE TABLE statements (
        code TEXT NOT NULL,
        reason TEXT NOT NULL,
        number INTEGER NOT NULL,  -- from 1
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
    """
    CREATE TABLE imports (
        key BLOB PRIMARY KEY,  -- see `import_key`
        creator TEXT NOT NULL,
        id TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        links INTEGER NOT NULL,
        removed INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX imports_by_creator ON imports (creator, started_at);
    CREATE INDEX imports_by_age ON imports (started_at);
    CREATE TABLE import_rows (
        import BLOB NOT NULL,
        number INTEGER NOT NULL,
        verdict TEXT NOT NULL,
        code TEXT,
        fingerprint BLOB,  -- null if the row created no link
        undone INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (import, number)
    ) WITHOUT ROWID;
    CREATE INDEX import_rows_by_code ON import_rows (import, code) WHERE fingerprint IS NOT NULL;
    -- The number of rows that an account imported on its last day with an import.
    CREATE TABLE import_days (
        creator TEXT PRIMARY KEY,
        day INTEGER NOT NULL,
        rows INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX import_days_by_day ON import_days (day);
    """,
    """
    -- Calls that created links.
    CREATE TABLE creations (
        key BLOB PRIMARY KEY,  -- see `creation_key`
        creator TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        fingerprint BLOB NOT NULL,
        outcomes TEXT NOT NULL  -- see `encode_outcomes`
    );
    CREATE INDEX creations_by_creator ON creations (creator, created_at);
    CREATE INDEX creations_by_age ON creations (created_at);
    """,
    """
    ALTER TABLE decisions ADD COLUMN account TEXT;
    -- The e-mail address of an administrator, or `operator`.
    ALTER TABLE decisions ADD COLUMN decided_by TEXT NOT NULL DEFAULT 'operator';
    """,
    """
    ALTER TABLE links ADD COLUMN domain TEXT NOT NULL DEFAULT '';
    """,
    """
    -- The idempotency key of the administrator's call that made it.
    ALTER TABLE decisions ADD COLUMN call BLOB;
    CREATE UNIQUE INDEX decisions_by_call ON decisions (call) WHERE call IS NOT NULL;
    """,
)
