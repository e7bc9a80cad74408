"""The tables of auth in an SQLite file.

A step is never changed once released, so its SQL contains no constants from the code.
"""

from __future__ import annotations

MIGRATIONS = (
    """
    CREATE TABLE accounts (
        id TEXT PRIMARY KEY,
        email TEXT NOT NULL,
        email_key TEXT NOT NULL UNIQUE,
        username TEXT NOT NULL,
        password_hash TEXT NOT NULL,
        salt TEXT NOT NULL,
        created_at INTEGER NOT NULL,  -- microseconds since the Unix epoch
        closed INTEGER NOT NULL,  -- 1 once being removed
        session INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX accounts_closed ON accounts (id) WHERE closed;
    CREATE TABLE attempts (
        key TEXT PRIMARY KEY,
        count INTEGER NOT NULL,
        window_ends INTEGER NOT NULL  -- microseconds since the Unix epoch
    ) WITHOUT ROWID;
    CREATE INDEX attempts_by_end ON attempts (window_ends);
    """,
    """
    CREATE TABLE api_keys (
        key_hash BLOB PRIMARY KEY,
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        id TEXT NOT NULL,
        name TEXT NOT NULL,
        prefix TEXT NOT NULL,
        scopes TEXT NOT NULL,  -- separated by spaces
        created_at INTEGER NOT NULL,  -- microseconds since the Unix epoch
        expires_at INTEGER,
        last_used_at INTEGER
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX api_keys_by_account ON api_keys (account_id, id);
    """,
    """
    CREATE TABLE sessions (
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        id TEXT NOT NULL,
        created_at INTEGER NOT NULL,  -- microseconds since the Unix epoch
        expires_at INTEGER NOT NULL,
        last_seen_at INTEGER NOT NULL,
        browser TEXT NOT NULL,
        system TEXT NOT NULL,
        PRIMARY KEY (account_id, id)
    ) WITHOUT ROWID;
    CREATE INDEX sessions_by_end ON sessions (expires_at);
    CREATE TABLE recovery_codes (
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        hash BLOB NOT NULL,
        expires_at INTEGER,  -- of the operator's code, microseconds since the Unix epoch
        PRIMARY KEY (account_id, hash)
    ) WITHOUT ROWID;
    CREATE TABLE passkeys (
        id TEXT PRIMARY KEY,
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        public_key BLOB NOT NULL,
        sign_count INTEGER NOT NULL,
        created_at INTEGER NOT NULL,  -- microseconds since the Unix epoch
        last_used_at INTEGER
    ) WITHOUT ROWID;
    CREATE INDEX passkeys_by_account ON passkeys (account_id);
    """,
    # The session that created a key or passkey, and when recovery codes were created.
    """
    ALTER TABLE api_keys ADD COLUMN creator_id TEXT;
    ALTER TABLE api_keys ADD COLUMN creator_created_at INTEGER;
    ALTER TABLE api_keys ADD COLUMN creator_browser TEXT;
    ALTER TABLE api_keys ADD COLUMN creator_system TEXT;
    ALTER TABLE passkeys ADD COLUMN creator_id TEXT;
    ALTER TABLE passkeys ADD COLUMN creator_created_at INTEGER;
    ALTER TABLE passkeys ADD COLUMN creator_browser TEXT;
    ALTER TABLE passkeys ADD COLUMN creator_system TEXT;
    ALTER TABLE recovery_codes ADD COLUMN created_at INTEGER;
    """,
    # Accounts of owners at an OpenID Connect provider.
    """
    CREATE TABLE connections (
        id TEXT PRIMARY KEY,
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        issuer TEXT NOT NULL,
        subject TEXT NOT NULL,
        email TEXT NOT NULL,
        created_at INTEGER NOT NULL,  -- microseconds since the Unix epoch
        last_used_at INTEGER
    ) WITHOUT ROWID;
    CREATE INDEX connections_by_account ON connections (account_id);
    """,
    # Roles, suspensions, confirmations, invitations and decisions. The index of accounts contains
    # what a search reads.
    """
    ALTER TABLE accounts ADD COLUMN role TEXT NOT NULL DEFAULT 'member';
    ALTER TABLE accounts ADD COLUMN suspended INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE accounts ADD COLUMN last_seen_at INTEGER;
    CREATE INDEX accounts_by_creation ON accounts (created_at, id, email_key, closed);
    CREATE INDEX accounts_administering ON accounts (id)
        WHERE role = 'administrator' AND NOT suspended AND NOT closed;
    ALTER TABLE sessions ADD COLUMN confirmed_at INTEGER;
    CREATE TABLE invitations (
        id TEXT PRIMARY KEY,
        hash BLOB NOT NULL UNIQUE,
        email TEXT NOT NULL,  -- empty for anyone
        email_key TEXT NOT NULL,
        role TEXT NOT NULL,
        created_at INTEGER NOT NULL,  -- microseconds since the Unix epoch
        expires_at INTEGER NOT NULL,
        is_first INTEGER NOT NULL  -- 1 for the first account alone
    ) WITHOUT ROWID;
    CREATE TABLE account_decisions (
        id TEXT PRIMARY KEY,
        at INTEGER NOT NULL,  -- microseconds since the Unix epoch
        action TEXT NOT NULL,
        subject TEXT NOT NULL,
        comment TEXT NOT NULL,
        by TEXT NOT NULL,  -- empty for the operator
        search_text TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX account_decisions_by_time ON account_decisions (at, id, search_text);
    """,
)
