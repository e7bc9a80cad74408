"""Settings of the links service."""

from __future__ import annotations

from pathlib import Path

from services.shared.settings import AdministeredSettings, PublicUrl


class LinksSettings(AdministeredSettings):
    """Settings of the links service beside those of every service."""

    public_url: PublicUrl
    """Where visitors reach the product. Its own short URLs cannot be shortened."""
    blocklist_dir: Path | None = None
    """Folder of blocklist files, which must exist; without the setting, every URL can be
    shortened."""
