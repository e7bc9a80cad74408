"""Routes, headers and limits of the edge, read from the one file that lists them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parent.parent / "deploy" / "edge.toml"

RawHeaders = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True)
class Edge:
    """The file's content, headers in the form ASGI sends them."""

    body_bytes: int
    retry_after: int
    functions: tuple[str, ...]
    gateway: tuple[str, ...]
    pages: tuple[str, ...]
    listed: tuple[str, ...]
    page_headers: RawHeaders
    redirect_headers: RawHeaders
    function_headers: RawHeaders
    hashed_prefix: str
    cache_hashed: bytes
    cache_files: bytes
    cache_document: bytes
    cache_error: bytes

    @classmethod
    def load(cls, file: Path = FILE) -> Edge:
        """Read the file. Raises OSError, tomllib.TOMLDecodeError or KeyError when it is unfit."""
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        common = data["headers"]
        cache = data["cache"]
        pages = data["pages"]
        return cls(
            body_bytes=data["limits"]["body_bytes"],
            retry_after=data["limits"]["retry_after"],
            functions=tuple(data["functions"]["paths"]),
            gateway=tuple(data["gateway"]["paths"]),
            pages=tuple(pages["paths"]),
            listed=tuple(path for path in pages["paths"] if path not in pages["unlisted"]),
            page_headers=_raw(common | data["page_headers"]),
            redirect_headers=_raw(common | data["redirect_headers"]),
            function_headers=_raw(common | data["function_headers"]),
            hashed_prefix=cache["hashed_prefix"],
            cache_hashed=cache["hashed"].encode(),
            cache_files=cache["files"].encode(),
            cache_document=cache["document"].encode(),
            cache_error=cache["error"].encode(),
        )


def _raw(headers: dict[str, str]) -> RawHeaders:
    return tuple((name.lower().encode(), value.encode()) for name, value in headers.items())
