"""What is done to links that are there: from what a link is to what it is to be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from services.links.domain.block import BlockReason, Lists
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
    """What is done to links: from what a link is to what it is to be.

    `of` is pure and may be called again. Where it returns an equal link, nothing is written.
    """

    of: Callable[[Link], Link]


def removal(now: datetime) -> Edit:
    """A link is removed. One that was removed before stays so from then on."""
    return Edit(lambda link: link if link.removed_at is not None else replace(link, removed_at=now))


def restoration() -> Edit:
    """A link is not removed."""
    return Edit(lambda link: replace(link, removed_at=None))


def block(reason: BlockReason | None, now: datetime | None = None) -> Edit:
    """A link is blocked for a reason, or for none is not blocked, whatever blocklists say.

    `now` is when it was freed.
    """
    freed_at = now if reason is None else None
    return Edit(
        lambda link: replace(
            link, blocked=reason, listed="", spared=reason is None, spared_at=freed_at
        )
    )


def apply_blocklists(lists: Lists) -> Edit:
    """Block a link if a blocklist names where it leads, and free it if none does any more.

    The operator's blocks of addresses are lists, too. A link that the operator blocked stays so,
    and one that the operator freed is blocked by a later block of an address alone.
    """

    def of(link: Link) -> Link:
        if link.blocked is not None and not link.listed:
            return link
        if refusal := link.refusal(lists):
            return replace(link, blocked=refusal.reason, listed=refusal.list)
        if lists.contents is None:  # One of those that were not read yet may name it.
            return link
        return replace(link, blocked=None, listed="")

    return Edit(of)


@dataclass(frozen=True, slots=True)
class Expiry:
    """The end of a link; None for a link without one."""

    at: datetime | None


@dataclass(frozen=True, slots=True)
class LinkChanges:
    """What an owner wants to be otherwise, as it was given; what is None stays as it is."""

    url: str | None = None
    title: str | None = None
    tags: Sequence[str] | None = None
    expiry: Expiry | None = None
    ended_url: str | None = None
    public_statistics: bool | None = None

    def edit(self, urls: UrlPolicy, now: datetime) -> Edit:
        """The edit that makes the changes.

        Raises NoChanges where nothing is to change, InvalidUrl, InvalidTitle, InvalidTags,
        InvalidEndedUrl, UrlRefused, Unavailable.
        """
        if self == LinkChanges():
            raise NoChanges("Say what is to change.")
        url = None if self.url is None else urls.normalize(self.url)
        title = None if self.title is None else title_of(self.title)
        tags = None if self.tags is None else tags_of(self.tags)
        ended_url = self.ended_url and urls.normalize_ended(self.ended_url)

        def of(link: Link) -> Link:
            if url is not None and url != link.url:
                made_with = link.created_url or link.url
                link = replace(link, url=url, created_url=made_with, changed_at=now)
            link = replace(
                link,
                title=link.title if title is None else title,
                tags=link.tags if tags is None else tags,
                expires_at=link.expires_at if self.expiry is None else _second_of(self.expiry.at),
                ended_url=link.ended_url if ended_url is None else ended_url,
                public_statistics=(
                    link.public_statistics
                    if self.public_statistics is None
                    else self.public_statistics
                ),
            )
            return urls.freed(link) if url is not None or ended_url is not None else link

        return Edit(of)


def _second_of(moment: datetime | None) -> datetime | None:
    return moment and moment.replace(microsecond=0)
