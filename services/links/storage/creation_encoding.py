"""The encoding of records of creations in both stores."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from services.links.domain.creations import Outcome
from services.links.domain.link import OWNER_FIELDS, Link
from services.links.domain.owner import Account
from services.shared.errors import AlreadyExists, AppError, InvalidArgument
from services.shared.timestamps import from_micros, to_micros

_KEY_BYTES = 16
_ERRORS: dict[str, type[AppError]] = {"invalid": InvalidArgument, "exists": AlreadyExists}
"""The class of each error that is an outcome, by its encoding."""
_SETTABLE = {"code", "url", "ended_url", *OWNER_FIELDS}
_NAMES = [field.name for field in fields(Link) if field.name in _SETTABLE]
"""What a creation can set, in the order of `Link`."""
_DECODERS: dict[str, Callable[[Any], Any]] = {"tags": tuple, "expires_at": from_micros}


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
    return {
        name: to_micros(value) if isinstance(value, datetime) else value
        for name in _NAMES
        if (value := getattr(link, name))
    }


def _error_values(error: AppError) -> dict[str, str]:
    kind = next(name for name, kind in _ERRORS.items() if isinstance(error, kind))
    return {"error": kind, "reason": error.reason, "message": error.message}


def _outcome_of(values: dict[str, Any], account: Account, created_at: datetime) -> Outcome:
    if "error" in values:
        return _ERRORS[values["error"]](values["message"], values["reason"])
    decoded = {
        name: _DECODERS[name](value) if name in _DECODERS else value
        for name, value in values.items()
    }
    return Link(owner=account, created_at=created_at, **decoded)
