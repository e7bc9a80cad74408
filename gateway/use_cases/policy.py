"""What an instance offers, and to whom. Functions, the REST API and pages follow it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gateway.backends.owners import Account, Owner
from services.shared.errors import Unauthenticated


class AccountNeeded(Unauthenticated):
    """Only accounts may do this."""

    default_reason = "ACCOUNT_NEEDED"


@dataclass(frozen=True)
class Policy:
    """The operator's choices. auth itself decides who may register."""

    registration: Literal["open", "invite", "closed"]
    guest_links: bool
    """Whether links can be created without an account."""
    admin_pages: bool
    """Whether administrators act through the gateway."""

    def check_creation(self, owner: Owner | None) -> None:
        """Raise AccountNeeded if this owner, or nobody, must not create links."""
        if not self.guest_links and not isinstance(owner, Account):
            raise AccountNeeded("Only accounts can shorten links here.")
