"""The one table of the product's paths, `deploy/edge.toml`, for all that must know them.

Nothing but the standard library is needed to read it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "deploy" / "edge.toml"
CODE = ":code"
"""In the path of a page, what stands for the code of any link."""


def read() -> dict[str, Any]:
    """The file's content, as TOML has it. Raises OSError or tomllib.TOMLDecodeError."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def functions(table: dict[str, Any]) -> tuple[str, ...]:
    """The paths of the functions, as `/createShortLink`."""
    return tuple(f"/{name}" for name in table["functions"]["names"])


def pages(table: dict[str, Any]) -> tuple[str, ...]:
    """The paths of the pages, as `/login`; some of them have `CODE` in them."""
    return tuple(page["path"] for page in table["pages"].values())


def gateway(table: dict[str, Any]) -> tuple[str, ...]:
    """The paths that the gateway answers itself, as `/status`."""
    return tuple(table["gateway"].values())


def routes(table: dict[str, Any]) -> tuple[str, ...]:
    """All paths that are functions, pages or the gateway's own."""
    return functions(table) + pages(table) + gateway(table)


def folders(table: dict[str, Any]) -> tuple[str, ...]:
    """The names of the folders of files, as `assets`. They answer nothing themselves."""
    return (table["cache"]["hashed_prefix"].strip("/"),)
