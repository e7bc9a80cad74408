"""Settings of the links service."""

from __future__ import annotations

from services.runtime.settings import PublicUrl, ServiceSettings


class LinksSettings(ServiceSettings):
    """What the links service can be told beside what every service can."""

    public_url: PublicUrl
    """Where people reach the product: its own short addresses cannot be shortened again."""
