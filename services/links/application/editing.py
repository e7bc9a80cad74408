"""Applies an edit to links within a unit of work."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from services.links.application.ports import UnitOfWork
from services.links.domain.edit import Edit
from services.links.domain.link import Link


def edit_links(
    unit: UnitOfWork, links: dict[str, Link], codes: Sequence[str], edit: Edit, now: datetime
) -> list[Link]:
    """Apply an edit to links of a unit of work; return them in the order of `codes`."""
    edited = {code: edit.apply(links[code]) for code in codes}
    updates = [(links[code], link) for code, link in edited.items() if link != links[code]]
    if updates:
        unit.links.save(updates, now)
    return [edited[code] for code in codes]
