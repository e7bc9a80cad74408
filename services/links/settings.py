"""Settings of the links service."""

from __future__ import annotations

from pathlib import Path

from services.shared.origins import Origins
from services.shared.settings import AdministeredSettings, Domains, PublicUrl, to_origins


class LinksSettings(AdministeredSettings):
    """Settings of the links service beside those of every service."""

    public_url: PublicUrl
    """Where visitors reach the product. Its own short URLs cannot be shortened."""
    domains: Domains = ()
    """Comma-separated further origins at which short URLs work. They cannot be shortened either."""
    blocklist_dir: Path | None = None
    """Folder of blocklist files, which must exist; without the setting, every URL can be
    shortened."""

    @property
    def origins(self) -> Origins:
        """The origins of the public URL and of the further domains."""
        return to_origins(self.public_url, self.domains)
