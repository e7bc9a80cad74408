"""Settings of the reconciler."""

from __future__ import annotations

from services.shared.settings import ProcessSettings


class ReconcilerSettings(ProcessSettings):
    """The endpoints of the services."""

    auth_admin_address: str
    links_admin_address: str
    analytics_admin_address: str
    """gRPC targets of the services' operator ports, `host:port` or `dns:///host:port`."""
    analytics_address: str
    """gRPC target of the public port of analytics, which returns the totals of links."""
