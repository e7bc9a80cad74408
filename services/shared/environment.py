"""Reads environment variables `ATAJO_<NAME>` and files that `ATAJO_<NAME>_FILE` names."""

from __future__ import annotations

import os
from pathlib import Path

PREFIX = "ATAJO_"


def read_variable(variable: str) -> str | None:
    """Return the text of a variable, or of its file without trailing newlines.

    The file form is for secrets that are mounted into a container. It takes precedence. Returns
    None if neither is set. Raises SystemExit with one line if the file cannot be read.
    """
    path = os.environ.get(f"{variable}_FILE")
    if not path:
        return os.environ.get(variable)
    try:
        return Path(path).read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        why = f"cannot be read: {replace_undecodable(path)}: {error.strerror}"
    except UnicodeDecodeError:
        why = f"is not UTF-8 text: {replace_undecodable(path)}"
    raise SystemExit(f"Settings refused. {variable}_FILE {why}")


def replace_undecodable(text: str) -> str:
    """Replace the bytes of a variable that are not UTF-8."""
    return text.encode(errors="replace").decode()
