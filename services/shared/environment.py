"""Reads environment variables, also from files that `<variable>_FILE` names.

The file form is for secrets that are mounted into a container. It takes precedence.
"""

from __future__ import annotations

import os
from pathlib import Path


def read_variable(variable: str) -> str | None:
    """Return the text of a variable or its file, without the file's trailing newlines.

    Returns None if neither is set. Raises SystemExit with one line if the file cannot be read.
    """
    path = os.environ.get(f"{variable}_FILE")
    if not path:
        return os.environ.get(variable)
    try:
        return Path(path).read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        why = f"cannot be read: {_printable(path)}: {error.strerror}"
    except UnicodeDecodeError:
        why = f"is not UTF-8 text: {_printable(path)}"
    raise SystemExit(f"Settings refused. {variable}_FILE {why}")


def is_utf8(text: str) -> bool:
    """Return whether a variable's text was valid UTF-8."""
    return _printable(text) == text


def _printable(text: str) -> str:
    """Replace the bytes of a variable that are not UTF-8."""
    return text.encode(errors="replace").decode()
