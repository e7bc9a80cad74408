"""Whether the product runs and serves: `atajo health`, for container engines."""

from __future__ import annotations

from deploy.local.folder import read_state
from deploy.local.settings import RunSettings


def check() -> None:
    """Return if the product serves. Raises SystemExit with one line if not."""
    data = RunSettings.load().data_dir
    if read_state(data) is None:
        raise SystemExit(f"Atajo does not run over {data}.")
