"""Settings of the analytics service."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from services.shared.settings import ServiceSettings


class AnalyticsSettings(ServiceSettings):
    """Settings of the analytics service, in addition to those of every service."""

    statistics_days: int | None = Field(default=None, ge=1, le=1_000_000)
    """Days before today for which statistics are retained. Empty: without limit. Totals are not
    affected."""

    @field_validator("statistics_days", mode="before")
    @classmethod
    def _parse_empty(cls, value: Any) -> Any:
        return None if value == "" else value
