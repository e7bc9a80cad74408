"""Edits of existing links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from services.links.domain.block import BlockReason
from services.links.domain.blocklist import VersionedBlocklist
from services.links.domain.link import OWNER_FIELDS, Link
from services.links.domain.url import UrlPolicy
from services.shared.errors import InvalidArgument


class InvalidExpiry(InvalidArgument):
    default_reason = "INVALID_EXPIRY"


class NoChanges(InvalidArgument):
    default_reason = "NO_CHANGES"


Edit = Callable[[Link], Link]
"""A pure function from a link to the changed link. An equal link is not written."""


def removal(now: datetime) -> Edit:
    """Return the edit that removes a link. A removed link keeps the time of its removal."""
    return lambda link: link if link.removed_at is not None else replace(link, removed_at=now)


def restoration() -> Edit:
    """Return the edit that restores a removed link."""
    return lambda link: replace(link, removed_at=None)


def block(reason: BlockReason | None, now: datetime | None = None) -> Edit:
    """Return the edit that blocks a link for a reason, or unblocks it if that is None.

    An unblocked link is exempt from blocklists from `now` on.
    """
    exempt_since = now if reason is None else None
    return lambda link: replace(
        link, blocked=reason, blocklist="", exempt=reason is None, exempt_since=exempt_since
    )


def apply_blocklist(blocklist: VersionedBlocklist) -> Edit:
    """Return the edit that blocks a link if its destination is listed, and unblocks it if not.

    Leaves a link alone that the operator blocked. A link that the operator unblocked is blocked
    again only by a pattern that the operator blocked later.
    """

    def apply(link: Link) -> Link:
        if link.blocked is not None and not link.blocklist:
            return link
        if match := link.blocklist_match(blocklist):
            return replace(link, blocked=match.reason, blocklist=match.list)
        if blocklist.fingerprint is None:  # A list that is not loaded yet may name it.
            return link
        return replace(link, blocked=None, blocklist="")

    return apply


class LinkChanges(dict[str, Any]):
    """The values that an owner requests for fields of a link, unchecked, by field of `Link`.

    The fields are `url`, `ended_url`, `domain` and `OWNER_FIELDS`. Other fields stay as they are.
    """

    def edit(self, urls: UrlPolicy, now: datetime) -> Edit:
        """Return the edit that makes the changes.

        Raises NoChanges if there are none, and what `checked` raises.
        """
        if not self:
            raise NoChanges("At least one change is required.")
        new = self.checked(urls)

        def apply(link: Link) -> Link:
            changed = replace(link, **new)
            if changed.url != link.url:
                created_url = link.created_url or link.url
                changed = replace(changed, created_url=created_url, changed_at=now)
            return urls.unblock_if_unlisted(changed) if new.keys() & _DESTINATIONS else changed

        return apply

    def checked(self, urls: UrlPolicy) -> dict[str, Any]:
        """Return the values to store, by field of `Link`.

        Raises KeyError for a field that owners do not set, InvalidUrl, InvalidEndedUrl,
        InvalidDomain, UrlRefused, Unavailable, and what the fields of `OWNER_FIELDS` raise.
        """
        new: dict[str, Any] = {}
        for name, value in self.items():
            if name == "url":
                new[name] = urls.normalize(value)
            elif name == "ended_url":
                new[name] = value and urls.normalize_ended(value)
            elif name == "domain":
                new[name] = urls.parse_domain(value)
            else:
                new[name] = OWNER_FIELDS[name].check(value)
        return new


_DESTINATIONS = {"url", "ended_url"}
