"""Settings of the links service."""

from __future__ import annotations

from pydantic import HttpUrl

from services.runtime.settings import ServiceSettings


class LinksSettings(ServiceSettings):
    """What the links service can be told beside what every service can."""

    public_url: HttpUrl
    """Where people reach the product: its own short addresses cannot be shortened again."""
