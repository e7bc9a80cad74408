"""The encoding of records of creations in both stores."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from services.links.domain.creations import Outcome
from services.links.domain.link import Link
from services.links.domain.owner import Account
from services.shared.errors import AlreadyExists, AppError, InvalidArgument
from services.shared.timestamps import from_micros, to_micros

_KEY_BYTES = 16
_ERRORS: dict[str, type[AppError]] = {"invalid": InvalidArgument, "exists": AlreadyExists}
"""The class of each error that is an outcome, by its encoding."""


def creation_key(account: Account, key: bytes) -> bytes:
    """Return the key of a record: a hash, since idempotency keys may contain anything."""
    size = len(key).to_bytes()
    return hashlib.sha256(size + key + account.id.encode()).digest()[:_KEY_BYTES]


def encode_outcomes(outcomes: Sequence[Outcome]) -> str:
    """Return outcomes as JSON: of a link, what its creation can set, without empty fields."""
    encoded = [
        _link_values(one) if isinstance(one, Link) else _error_values(one) for one in outcomes
    ]
    return json.dumps(encoded, ensure_ascii=False, separators=(",", ":"))


def decode_outcomes(text: str, account: Account, created_at: datetime) -> list[Outcome]:
    """Return the outcomes of a call of an account."""
    return [_outcome_of(values, account, created_at) for values in json.loads(text)]


def _link_values(link: Link) -> dict[str, Any]:
    values = {
        "code": link.code,
        "url": link.url,
        "title": link.title,
        "tags": link.tags,
        "expires_at": None if link.expires_at is None else to_micros(link.expires_at),
        "ended_url": link.ended_url,
    }
    return {name: value for name, value in values.items() if value not in (None, "", ())}


def _error_values(error: AppError) -> dict[str, str]:
    kind = next(name for name, kind in _ERRORS.items() if isinstance(error, kind))
    return {"error": kind, "reason": error.reason, "message": error.message}


def _outcome_of(values: dict[str, Any], account: Account, created_at: datetime) -> Outcome:
    if "error" in values:
        return _ERRORS[values["error"]](values["message"], values["reason"])
    values["tags"] = tuple(values.get("tags", ()))
    if "expires_at" in values:
        values["expires_at"] = from_micros(values["expires_at"])
    return Link(owner=account, created_at=created_at, **values)
