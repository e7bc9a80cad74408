"""Invites the first account of an instance where not everybody may register."""

from __future__ import annotations

import asyncio
import sys

from services.auth.application.invitations import Invitations
from services.auth.application.registrations import Policy
from services.shared import background
from services.shared.observability import logs
from services.shared.page_urls import invitation_url
from services.shared.stores import Store

_RETRY_SECONDS = 1.0

log = logs.Throttled(__name__)


async def invite_first_account(
    invitations: Invitations, policy: Policy, origin: str, store: Store
) -> None:
    """Print a URL with which to register the first account, an administrator, if there is none.

    Waits for the store, however long that takes. Prints one plain line, whatever the log level and
    its format: it is for the person who starts the instance. The URLs of earlier starts are void.
    """
    if policy == "open":
        return
    await store.wait_for_schema()
    while True:
        with background.log_errors(log, "first_account"):
            if token := await invitations.invite_first():
                url = invitation_url(origin, token)
                line = f"No account exists. Register the first one, an administrator: {url}"
                sys.stdout.write(line + "\n")
                sys.stdout.flush()
            return
        await asyncio.sleep(_RETRY_SECONDS)
