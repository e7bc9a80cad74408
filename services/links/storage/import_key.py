"""The key of an import in both stores."""

from __future__ import annotations

import hashlib

from services.links.domain.owner import Account

_BYTES = 16


def import_key(account: Account, import_id: str) -> bytes:
    """Return the key of an import, which keeps the keys of its rows short."""
    return hashlib.sha256(f"{import_id}{account.id}".encode()).digest()[:_BYTES]
