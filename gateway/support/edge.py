"""Routes, headers and limits from `deploy/edge.toml`, the only place that lists them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from services.shared import edge_table, link_codes

RawHeaders = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True)
class Edge:
    """The content of the file, with headers as ASGI has them."""

    body_bytes: int
    large_body_bytes: int
    """Maximum body of a call of `large_functions`, which has operations of the API, too."""
    retry_after: int
    redirect_header_bytes: int
    """Maximum header section of a redirect. Proxies in front must buffer as much."""
    functions: tuple[str, ...]
    large_functions: frozenset[str]
    api: str
    """Path that the paths of the REST API begin with, such as `/api/v1`."""
    gateway: tuple[str, ...]
    pages: tuple[str, ...]
    """As in the file, with `:code` for a code (see `pattern_of` and `page_at`)."""
    listed: tuple[str, ...]
    link_pages: frozenset[str]
    """Pages that exist only for codes that have or had a link."""
    documents: Mapping[str, str]
    """Files of the pages that have a document of their own, by path."""
    robots: str
    sitemap: str
    status: str
    opensearch: str
    change_password: str
    share: str
    """The page that takes a link from elsewhere."""
    settings: str
    """The settings page, to which `change_password` redirects."""
    admin: str
    """The page for administrators, which an operator can turn off."""
    plain_headers: RawHeaders
    """Headers of all responses."""
    page_headers: RawHeaders
    document_headers: RawHeaders
    """Headers of `documents`, instead of `page_headers`."""
    redirect_headers: RawHeaders
    function_headers: RawHeaders
    https_headers: RawHeaders
    """Headers to add to those above if the public URL is https."""
    hashed_prefix: str
    cache_hashed: bytes
    cache_files: bytes
    cache_document: bytes
    cache_error: bytes

    @classmethod
    def load(cls, *, https: bool = False) -> Edge:
        """Read the file. `https` says whether the public URL is https.

        Raises OSError, tomllib.TOMLDecodeError, KeyError or TypeError if the file is invalid.
        """
        table = edge_table.read()
        common = table["headers"] | (table["https_headers"] if https else {})
        cache = table["cache"]
        pages = table["pages"].values()
        return cls(
            **table["limits"],
            functions=edge_table.functions(table),
            large_functions=frozenset(
                (
                    *(f"/{name}" for name in table["functions"]["large"]),
                    *(edge_table.api(table) + path for path in table["api"]["large"]),
                )
            ),
            api=edge_table.api(table),
            gateway=edge_table.gateway(table),
            pages=edge_table.pages(table),
            listed=tuple(page["path"] for page in pages if not page.get("unlisted")),
            link_pages=frozenset(page["path"] for page in pages if page.get("link_page")),
            documents={page["path"]: page["document"] for page in pages if "document" in page},
            **table["gateway"],
            share=table["pages"]["share"]["path"],
            settings=table["pages"]["settings"]["path"],
            admin=table["pages"]["admin"]["path"],
            plain_headers=_raw(common),
            page_headers=_raw(common | table["page_headers"]),
            document_headers=_raw(common | table["document_headers"]),
            redirect_headers=_raw(common | table["redirect_headers"]),
            function_headers=_raw(common | table["function_headers"]),
            https_headers=_raw(table["https_headers"]),
            hashed_prefix=cache["hashed_prefix"],
            cache_hashed=cache["hashed"].encode(),
            cache_files=cache["files"].encode(),
            cache_document=cache["document"].encode(),
            cache_error=cache["error"].encode(),
        )

    def body_bytes_of(self, path: str) -> int:
        """Return the maximum body of a call of a function or of an operation of the API."""
        return self.large_body_bytes if path in self.large_functions else self.body_bytes

    def page_at(self, path: str) -> str | None:
        """Return the page of a path, as it is in the file."""
        if path in self.pages:
            return None if edge_table.CODE in path else path
        for page in self.pages:
            if (pattern := self.pattern_of(page)) and re.fullmatch(pattern, path):
                return page
        return None

    def pattern_of(self, page: str) -> str | None:
        """Return a regular expression of a page's paths, whose group is the code.

        It has no anchors. None if the page has one path only.
        """
        if edge_table.CODE not in page:
            return None
        before, _, after = page.partition(edge_table.CODE)
        return f"{re.escape(before)}({link_codes.PATTERN}){re.escape(after)}"

    def code_in(self, page: str, path: str) -> str:
        """Return the code in a path of a page. Raises ValueError for paths of other pages."""
        match = re.fullmatch(self.pattern_of(page) or "(?!)", path)
        if match is None:
            raise ValueError(f"{path} is none of {page}")
        return match[1]


def _raw(headers: dict[str, str]) -> RawHeaders:
    return tuple((name.lower().encode(), value.encode()) for name, value in headers.items())
