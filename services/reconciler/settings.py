"""Where the reconciler finds the services."""

from __future__ import annotations

from services.shared.settings import ProcessSettings


class ReconcilerSettings(ProcessSettings):
    """What the reconciler can be told."""

    auth_admin_address: str
    links_admin_address: str
    analytics_admin_address: str
    """gRPC targets of the services' ports for the operator, `host:port` or `dns:///host:port`."""
    analytics_address: str
    """The same of the port on which analytics tells the totals of any link."""
