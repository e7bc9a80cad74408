"""What an instance offers, and to whom. Functions, the REST API and pages follow it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gateway.backends.owners import Account, Owner
from services.shared.errors import PermissionDenied, Unauthenticated


class AccountNeeded(Unauthenticated):
    """Only accounts may do this."""

    default_reason = "ACCOUNT_NEEDED"


class AdministrationOff(PermissionDenied):
    """Nobody administers the instance through the gateway."""

    default_reason = "NOT_ADMINISTRATOR"


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

    def check_administration(self) -> None:
        """Raise AdministrationOff unless administrators act through the gateway."""
        if not self.admin_pages:
            raise AdministrationOff("This instance is not administered here.")
