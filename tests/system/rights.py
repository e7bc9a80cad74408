"""Reads the tables of docs/reference/rights.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.support.processes import ROOT

DOCUMENT = ROOT / "docs" / "reference" / "rights.md"
_ACTION = re.compile(r"`([^`]+)`")
_SETTING = re.compile(r"any|`ATAJO_[A-Z_]+=\w+`")
_ANSWER = re.compile(r"yes|`[a-z ]+`|\d{3}")


@dataclass(frozen=True)
class Right:
    """A cell: what a role gets that tries something."""

    action: str
    """A function, or method and path."""
    circumstance: str
    """The words behind the actions of a row, such as `with an invitation`."""
    setting: str
    """Such as `ATAJO_GUEST_LINKS=off`, or `any`."""
    role: str
    answer: str
    """`yes`, the error of a function, or an HTTP status."""

    def __str__(self) -> str:
        circumstance = f" {self.circumstance}" if self.circumstance else ""
        return f"{self.action}{circumstance}, {self.setting}, {self.role}: {self.answer}"


def read_rights(text: str) -> list[Right]:
    """Return the cells of all tables whose first columns are `what` and `setting`, in order.

    Raises ValueError for a cell that says something else.
    """
    rights: list[Right] = []
    roles: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("|"):
            roles = []
        elif cells[:2] == ["what", "setting"]:
            roles = cells[2:]
        elif roles and not line.startswith("|---"):
            rights.extend(_read_row(cells, roles))
    return rights


def _read_row(cells: list[str], roles: list[str]) -> Iterator[Right]:
    what, setting, *answers = cells
    actions = _ACTION.findall(what)
    circumstance = what.rpartition("`")[2].strip()
    if not actions or "`" in setting.strip("`") or not _SETTING.fullmatch(setting):
        raise ValueError(f"What is meant by {cells}?")
    for role, answer in zip(roles, answers, strict=True):
        if not _ANSWER.fullmatch(answer):
            raise ValueError(f"What is meant by {answer}, in {cells}?")
        for action in actions:
            yield Right(action, circumstance, setting.strip("`"), role, answer.strip("`"))
