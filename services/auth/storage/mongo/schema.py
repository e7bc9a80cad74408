"""Accounts and what belongs to them, and attempt counts, in a MongoDB database.

    accounts  _id (the account's id), email, email_key (unique), username, password_hash, salt,
              created_at, closed, session, role, suspended, last_seen_at,
              api_keys: [{id, key_hash (unique), name, prefix, scopes, created_at, expires_at,
              last_used_at, created_by (if known: {id, created_at, browser, system})}],
              sessions: [{id, created_at, expires_at, last_seen_at, browser, system,
              confirmed_at}], newest last,
              recovery_codes: [{hash, expires_at (of the operator's code, or null), created_at}],
              passkeys: [{id (unique), name, public_key, sign_count, created_at, last_used_at,
              created_by (as of api_keys)}],
              connections: [{id (unique), issuer, subject, email, created_at, last_used_at}]
    invitations
              _id, hash (unique), email, email_key, role, created_at, expires_at, is_first
    account_decisions
              _id, at, action, subject, comment, by, search_text
    marks     _id: "administrators", mark: a number that increases when an account might be the last
              administrator, so that concurrent transactions conflict
    attempts  _id (the counter), count, window_ends, tidied_at (when the TTL index deletes it)

Timestamps are microseconds since the Unix epoch, because MongoDB's dates have only milliseconds.
`tidied_at` is a date, as TTL indexes require. A log-in deletes the expired sessions of its account.
"""

from __future__ import annotations

from pymongo import IndexModel

from services.shared.mongo import Schema

SCHEMA: Schema = (
    {
        "accounts": [
            IndexModel("email_key", name="accounts_by_email_key", unique=True),
            IndexModel("closed", name="accounts_closed", partialFilterExpression={"closed": True}),
        ],
        "attempts": [IndexModel("tidied_at", name="attempts_tidied", expireAfterSeconds=0)],
    },
    {
        "accounts": [
            IndexModel(
                "api_keys.key_hash",
                name="accounts_by_api_key",
                unique=True,
                partialFilterExpression={"api_keys.key_hash": {"$exists": True}},
            ),
        ],
    },
    {
        "accounts": [
            IndexModel(
                "passkeys.id",
                name="accounts_by_passkey",
                unique=True,
                partialFilterExpression={"passkeys.id": {"$exists": True}},
            ),
        ],
    },
    {
        "accounts": [
            IndexModel(
                "connections.id",
                name="accounts_by_connection",
                unique=True,
                partialFilterExpression={"connections.id": {"$exists": True}},
            ),
        ],
    },
    {
        "accounts": [
            # A search reads nothing but this index.
            IndexModel(
                [("created_at", -1), ("_id", -1), ("email_key", 1), ("closed", 1)],
                name="accounts_by_creation",
            ),
            IndexModel(
                "role",
                name="accounts_administrators",
                partialFilterExpression={"role": "administrator"},
            ),
        ],
        "invitations": [IndexModel("hash", name="invitations_by_hash", unique=True)],
        "account_decisions": [
            IndexModel(
                [("at", -1), ("_id", -1), ("search_text", 1)], name="account_decisions_by_time"
            ),
        ],
    },
)
