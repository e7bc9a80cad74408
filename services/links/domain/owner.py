"""Owners of links."""

from __future__ import annotations

from dataclasses import dataclass

from services.shared.errors import InvalidArgument

GUEST_HASH_BYTES = 32
"""The size of a SHA-256 hash."""


class InvalidOwner(InvalidArgument):
    default_reason = "INVALID_OWNER"


@dataclass(frozen=True, slots=True)
class Account:
    """An owner with an account. Raises InvalidOwner for an empty id."""

    id: str

    def __post_init__(self) -> None:
        if not self.id:
            raise InvalidOwner("The id of an account must not be empty.")


@dataclass(frozen=True, slots=True)
class Guest:
    """An owner without an account: the holder of a browser's key, of which this is the SHA-256.

    Raises InvalidOwner for a hash of another size.
    """

    key_hash: bytes

    def __post_init__(self) -> None:
        if len(self.key_hash) != GUEST_HASH_BYTES:
            raise InvalidOwner(f"The hash of a guest's key must have {GUEST_HASH_BYTES} bytes.")


@dataclass(frozen=True, slots=True)
class Anonymous:
    """The owner of a link whose creator sent neither a session nor a key."""


ANONYMOUS = Anonymous()
Owner = Account | Guest | Anonymous


def require_owner(owner: Owner) -> Account | Guest:
    """Return the owner. Raises InvalidOwner for an anonymous one."""
    if isinstance(owner, Anonymous):
        raise InvalidOwner("This call needs an account or a guest.")
    return owner
