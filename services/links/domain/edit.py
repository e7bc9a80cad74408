"""Edits of existing links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from services.links.domain.block import BlockReason
from services.links.domain.blocklist import VersionedBlocklist
from services.links.domain.link import Link
from services.links.domain.text import tags_of, title_of
from services.links.domain.url import UrlPolicy
from services.shared.errors import InvalidArgument


class InvalidExpiry(InvalidArgument):
    default_reason = "INVALID_EXPIRY"


class NoChanges(InvalidArgument):
    default_reason = "NO_CHANGES"


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of links."""

    apply: Callable[[Link], Link]
    """A pure function from a link to the changed link. An equal link is not written."""


def removal(now: datetime) -> Edit:
    """Return the edit that removes a link. A removed link keeps the time of its removal."""
    return Edit(lambda link: link if link.removed_at is not None else replace(link, removed_at=now))


def restoration() -> Edit:
    """Return the edit that restores a removed link."""
    return Edit(lambda link: replace(link, removed_at=None))


def block(reason: BlockReason | None, now: datetime | None = None) -> Edit:
    """Return the edit that blocks a link for a reason, or unblocks it if that is None.

    An unblocked link is exempt from blocklists from `now` on.
    """
    exempt_since = now if reason is None else None
    return Edit(
        lambda link: replace(
            link, blocked=reason, blocklist="", exempt=reason is None, exempt_since=exempt_since
        )
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

    return Edit(apply)


@dataclass(frozen=True, slots=True)
class Expiry:
    """When a link expires."""

    at: datetime | None
    """None for never."""


@dataclass(frozen=True, slots=True)
class LinkChanges:
    """The changes of a link that its owner requests, unchecked. None leaves a field unchanged."""

    url: str | None = None
    title: str | None = None
    tags: Sequence[str] | None = None
    expiry: Expiry | None = None
    ended_url: str | None = None
    public_statistics: bool | None = None

    def edit(self, urls: UrlPolicy, now: datetime) -> Edit:
        """Return the edit that makes the changes.

        Raises NoChanges if there are none, InvalidUrl, InvalidTitle, InvalidTags, InvalidEndedUrl,
        UrlRefused, Unavailable.
        """
        if self == LinkChanges():
            raise NoChanges("At least one change is required.")
        new = self.values(urls)

        def apply(link: Link) -> Link:
            changed = replace(link, **new)
            if changed.url != link.url:
                created_url = link.created_url or link.url
                changed = replace(changed, created_url=created_url, changed_at=now)
            return urls.unblock_if_unlisted(changed) if new.keys() & _DESTINATIONS else changed

        return Edit(apply)

    def values(self, urls: UrlPolicy) -> dict[str, Any]:
        """Return the values to store of the fields that change, by field of `Link`.

        Raises InvalidUrl, InvalidTitle, InvalidTags, InvalidEndedUrl, UrlRefused, Unavailable.
        """
        new: dict[str, Any] = {}
        if self.url is not None:
            new["url"] = urls.normalize(self.url)
        if self.title is not None:
            new["title"] = title_of(self.title)
        if self.tags is not None:
            new["tags"] = tags_of(self.tags)
        if self.expiry is not None:
            new["expires_at"] = self.expiry.at and self.expiry.at.replace(microsecond=0)
        if self.ended_url is not None:
            new["ended_url"] = self.ended_url and urls.normalize_ended(self.ended_url)
        if self.public_statistics is not None:
            new["public_statistics"] = self.public_statistics
        return new


_DESTINATIONS = {"url", "ended_url"}
