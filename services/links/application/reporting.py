"""Stores reports of links by visitors."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from secrets import token_urlsafe

from services.links.application.ports import LinkStore, UnitOfWork
from services.links.domain.block import BlockReason
from services.links.domain.link import no_link
from services.links.domain.report import to_statement
from services.links.metrics import REPORTS
from services.shared.link_codes import is_code

_REPORT_ID_BYTES = 12
"""Random bytes of a report id, so that nobody can guess one or derive the number of reports."""


class Reporting:
    """Reports by visitors."""

    def __init__(self, store: LinkStore, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    async def report(self, code: str, reason: BlockReason, details: str, contact: str) -> str:
        """Store a report of any link in any state; return the report's id.

        Raises InvalidDetails, InvalidContact, NoLink (also for a link that is gone), Unavailable.
        """
        now = self._now()
        statement = to_statement(details, contact, now)
        link = await self._store.links.find(code) if is_code(code) else None
        if link is None:
            raise no_link()
        link_code, new_id = link.code, token_urlsafe(_REPORT_ID_BYTES)

        def work(unit: UnitOfWork) -> str:
            link = unit.links.get([link_code]).get(link_code)
            if link is None or link.is_gone_at(now):
                raise no_link()
            return unit.reports.add(link_code, reason, statement, new_id)

        report_id = await self._store.transactions.run("links_report", work)
        REPORTS.labels(reason.value).inc()
        return report_id
