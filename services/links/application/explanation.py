"""Explains why a link or URL is blocked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.links.application.composite_blocklist import CompositeBlocklist
from services.links.application.ports import LinkStore
from services.links.domain.blocklist import BlocklistMatch, to_pattern
from services.links.domain.blocklist_key import parse_web_url
from services.links.domain.decision import Decision
from services.links.domain.link import Link, no_link
from services.links.domain.pattern import MAX_LENGTH, InvalidPattern, normalize_pattern
from services.shared.link_codes import is_code


@dataclass(frozen=True, slots=True)
class ExplainedMatch:
    """A blocklist entry that matches a URL now."""

    url: str
    match: BlocklistMatch
    decision: Decision | None
    """The operator's decision to block the pattern; None for an entry of a file."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What decides whether a link or URL is blocked."""

    link: Link | None
    """None for a URL."""
    matches: Sequence[ExplainedMatch]
    """By destination of the link; of one destination, the entry that decides comes first."""
    decision: Decision | None
    """The latest decision to block or unblock the link, or this very pattern."""


class BlockExplainer:
    """Answers from the store and from the lists that this process has loaded."""

    def __init__(self, store: LinkStore, blocklist: CompositeBlocklist) -> None:
        self._store = store
        self._blocklist = blocklist

    async def explain_link(self, code: str) -> Explanation:
        """Explain the state of a link, named by its code or scan code.

        Includes links whose removal can no longer be undone. Raises NoLink, Unavailable.
        """
        link = await self._store.links.find(code) if is_code(code) else None
        if link is None:
            raise no_link()
        return Explanation(
            link,
            await self._matches(link.destinations()),
            await self._store.decisions.latest_about_link(link.code),
        )

    async def explain_url(self, given: str) -> Explanation:
        """Explain whether links to a host or URL are blocked. The scheme may be missing.

        Raises InvalidPattern, Unavailable.
        """
        try:
            if len(given) > MAX_LENGTH:
                raise ValueError
            url = parse_web_url(given).href
        except ValueError:
            raise InvalidPattern("This is neither a host nor a URL.") from None
        return Explanation(None, await self._matches([url]), await self._decision_about(given))

    async def _decision_about(self, given: str) -> Decision | None:
        try:
            pattern = normalize_pattern(given)
        except InvalidPattern:  # A public suffix or a URL with a query cannot be blocked.
            return None
        return await self._store.decisions.latest_about_pattern(pattern)

    async def _matches(self, urls: Sequence[str]) -> list[ExplainedMatch]:
        await self._blocklist.refresh()
        return [
            ExplainedMatch(url, match, await self._find_decision(match))
            for url in urls
            for match in self._blocklist.matches(url)
        ]

    async def _find_decision(self, match: BlocklistMatch) -> Decision | None:
        pattern = to_pattern(match.list)
        return await self._store.decisions.latest_about_pattern(pattern) if pattern else None
