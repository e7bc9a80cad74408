"""Settings of the links service."""

from __future__ import annotations

from pathlib import Path

from services.shared.settings import PublicUrl, ServiceSettings


class LinksSettings(ServiceSettings):
    """What the links service can be told beside what every service can."""

    public_url: PublicUrl
    """Where people reach the product: its own short addresses cannot be shortened again."""
    blocklist_dir: Path | None = None
    """Folder of lists of hosts and URLs to which no link may lead; none: all that is a URL can be
    shortened."""
