"""Settings of the analytics service."""

from __future__ import annotations

from services.runtime.settings import ServiceSettings


class AnalyticsSettings(ServiceSettings):
    """What the analytics service can be told: nothing beside what every service can."""
