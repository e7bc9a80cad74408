"""Settings of the analytics service."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from services.shared.settings import ServiceSettings


class AnalyticsSettings(ServiceSettings):
    """What the analytics service can be told beside what every service can."""

    statistics_days: int | None = Field(default=None, ge=1, le=1_000_000)
    """For how many days before today the days of links are kept; empty for ever. Totals stay."""

    @field_validator("statistics_days", mode="before")
    @classmethod
    def _is_given(cls, value: Any) -> Any:
        return None if value == "" else value
