"""API keys and the rules for their fields."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from services.auth.domain.api_key import ApiKey, Scope, create_api_key
from services.auth.domain.errors import InvalidExpiry, InvalidKeyName, InvalidScopes
from services.shared import api_keys

NOW = datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)


def create(
    name: str = "Script",
    scopes: Sequence[Scope] = (Scope.LINKS_READ,),
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    return create_api_key("5f0c9a2b1d3e4f5061728394", name, scopes, expires_at, NOW)


def test_a_key_has_the_hash_and_the_beginning_of_its_text() -> None:
    every = [Scope.STATISTICS_READ, Scope.LINKS_READ, Scope.LINKS_WRITE, Scope.LINKS_READ]
    key, text = create("\u3000Mi script \U0001f600\n", every, NOW + MOMENT)
    other, _ = create()

    assert api_keys.is_well_formed(text)
    assert key.key_hash == api_keys.hash_key(text)
    assert text.startswith(key.prefix)
    assert len(key.prefix) == 12
    assert key.id != other.id
    assert (key.account_id, key.name) == ("5f0c9a2b1d3e4f5061728394", "Mi script \U0001f600")
    assert key.scopes == (Scope.LINKS_READ, Scope.LINKS_WRITE, Scope.STATISTICS_READ)
    assert (key.created_at, key.expires_at) == (NOW, NOW + MOMENT)
    assert key.last_used_at is None


def test_neither_the_key_nor_its_hash_is_in_its_representation() -> None:
    key, text = create()
    for secret in (text, text[13:], repr(key.key_hash), key.key_hash.hex()):
        assert secret not in repr(key)


@pytest.mark.parametrize("name", ["A", "a" * 50, " " + "\U0001f600" * 50 + " ", "名 前"])
def test_names_of_1_to_50_code_points_are_accepted(name: str) -> None:
    assert create(name)[0].name == name.strip()


@pytest.mark.parametrize(
    "name",
    ["", "  ", "\u00a0\ufeff", "a" * 51, "\U0001f600" * 51, "a\0b", "a\nb", "\x7f", "\udc00"],
)
def test_other_names_are_rejected(name: str) -> None:
    with pytest.raises(InvalidKeyName) as rejected:
        create(name)
    assert rejected.value.reason == "INVALID_KEY_NAME"


def test_a_key_without_scopes_is_rejected() -> None:
    with pytest.raises(InvalidScopes) as rejected:
        create(scopes=[])
    assert rejected.value.reason == "INVALID_SCOPES"


@pytest.mark.parametrize("expires_at", [NOW, NOW - MOMENT, datetime.min.replace(tzinfo=UTC)])
def test_an_expiry_that_is_not_in_the_future_is_rejected(expires_at: datetime) -> None:
    with pytest.raises(InvalidExpiry) as rejected:
        create(expires_at=expires_at)
    assert rejected.value.reason == "INVALID_EXPIRY"


def test_a_key_expires_at_its_expiry() -> None:
    key, _ = create(expires_at=NOW + MOMENT)
    assert [key.has_expired(at) for at in (NOW, NOW + MOMENT, NOW + 2 * MOMENT)] == [
        False,
        True,
        True,
    ]
    forever, _ = create()
    assert not forever.has_expired(datetime.max.replace(tzinfo=UTC))
