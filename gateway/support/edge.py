"""Routes, headers and limits of the edge, from the one file that lists them: `deploy/edge.toml`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.shared import codes, edge_table

RawHeaders = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True)
class Edge:
    """The file's content, headers in the form ASGI sends them."""

    body_bytes: int
    retry_after: int
    redirect_header_bytes: int
    """Largest header section of a redirect; a proxy in front must buffer as much."""
    functions: tuple[str, ...]
    gateway: tuple[str, ...]
    pages: tuple[str, ...]
    """As in the file; `pattern_of` and `page_at` know what `:code` stands for."""
    listed: tuple[str, ...]
    looked_up: frozenset[str]
    """Pages that are there only where their code has or had a link."""
    robots: str
    sitemap: str
    status: str
    page_headers: RawHeaders
    redirect_headers: RawHeaders
    function_headers: RawHeaders
    https_headers: RawHeaders
    """What the three above also have where the public URL is https."""
    hashed_prefix: str
    cache_hashed: bytes
    cache_files: bytes
    cache_document: bytes
    cache_error: bytes

    @classmethod
    def load(cls, *, https: bool = False) -> Edge:
        """Read the file. `https` says whether the public URL is https.

        Raises OSError, tomllib.TOMLDecodeError or KeyError when the file is unfit.
        """
        table = edge_table.read()
        common = table["headers"] | (table["https_headers"] if https else {})
        cache = table["cache"]
        pages = table["pages"].values()
        return cls(
            body_bytes=table["limits"]["body_bytes"],
            retry_after=table["limits"]["retry_after"],
            redirect_header_bytes=table["limits"]["redirect_header_bytes"],
            functions=edge_table.functions(table),
            gateway=edge_table.gateway(table),
            pages=edge_table.pages(table),
            listed=tuple(page["path"] for page in pages if not page.get("unlisted")),
            looked_up=frozenset(page["path"] for page in pages if page.get("looked_up")),
            **table["gateway"],
            page_headers=_raw(common | table["page_headers"]),
            redirect_headers=_raw(common | table["redirect_headers"]),
            function_headers=_raw(common | table["function_headers"]),
            https_headers=_raw(table["https_headers"]),
            hashed_prefix=cache["hashed_prefix"],
            cache_hashed=cache["hashed"].encode(),
            cache_files=cache["files"].encode(),
            cache_document=cache["document"].encode(),
            cache_error=cache["error"].encode(),
        )

    def page_at(self, path: str) -> str | None:
        """The page that a path shows, as it is in the file."""
        if path in self.pages:
            return None if edge_table.CODE in path else path
        for page in self.pages:
            if (pattern := self.pattern_of(page)) and re.fullmatch(pattern, path):
                return page
        return None

    def pattern_of(self, page: str) -> str | None:
        """The paths of a page as a regular expression without anchors; None if it has but one.

        Its one group is the code.
        """
        if edge_table.CODE not in page:
            return None
        before, _, after = page.partition(edge_table.CODE)
        return f"{re.escape(before)}({codes.PATTERN}){re.escape(after)}"

    def code_in(self, page: str, path: str) -> str:
        """The code in a path of a page that has one. Raises ValueError for another path."""
        match = re.fullmatch(self.pattern_of(page) or "(?!)", path)
        if match is None:
            raise ValueError(f"{path} is none of {page}")
        return match[1]


def _raw(headers: dict[str, str]) -> RawHeaders:
    return tuple((name.lower().encode(), value.encode()) for name, value in headers.items())
