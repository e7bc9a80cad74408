"""Reads `deploy/edge.toml`, the table of all paths of the product.

Depends on the standard library only, so that build scripts can import it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "deploy" / "edge.toml"
CODE = ":code"
"""Placeholder for a link's code in the path of a page."""


def read() -> dict[str, Any]:
    """Parse the file. Raises OSError or tomllib.TOMLDecodeError."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def functions(table: dict[str, Any]) -> tuple[str, ...]:
    """Return the paths of the functions, such as `/createShortLink`."""
    return tuple(f"/{name}" for name in table["functions"]["names"])


def pages(table: dict[str, Any]) -> tuple[str, ...]:
    """Return the paths of the pages, such as `/login`. Some contain `CODE`."""
    return tuple(page["path"] for page in table["pages"].values())


def gateway(table: dict[str, Any]) -> tuple[str, ...]:
    """Return the other paths that the gateway answers, such as `/status`."""
    return tuple(table["gateway"].values())


def api(table: dict[str, Any]) -> str:
    """Return the path that the paths of the REST API begin with: `/api/v1`."""
    prefix: str = table["api"]["prefix"]
    return prefix


def routes(table: dict[str, Any]) -> tuple[str, ...]:
    """Return all paths of functions, pages and other routes, without those of the REST API."""
    return functions(table) + pages(table) + gateway(table)


def folders(table: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of the folders of static files, such as `assets`."""
    return (table["cache"]["hashed_prefix"].strip("/"),)
