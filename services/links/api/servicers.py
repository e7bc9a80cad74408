"""Assembles the gRPC services of links."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from services.links.api.links import LinksServicer
from services.links.api.maintenance import MaintenanceServicer
from services.links.api.moderation import ModerationServicer
from services.links.application.commands import LinkCommands
from services.links.application.creations import Creations
from services.links.application.explanation import BlockExplainer
from services.links.application.imports import Imports
from services.links.application.maintenance import Maintenance
from services.links.application.moderation import Moderation
from services.links.application.queries import LinkQueries
from services.links.application.reporting import Reporting
from services.shared.rpc.server import Servicer, Servicers


def servicers(
    commands: LinkCommands,
    queries: LinkQueries,
    reporting: Reporting,
    imports: Imports,
    creations: Creations,
    moderation: Moderation,
    explainer: BlockExplainer,
    maintenance: Maintenance,
    now: Callable[[], datetime],
) -> Servicers:
    """Return the services for the gateway and those for the operator's port."""
    return Servicers(
        calls=Servicer.of(
            pb.DESCRIPTOR,
            "LinksService",
            pb_grpc.add_LinksServiceServicer_to_server,
            LinksServicer(commands, queries, reporting, imports, creations, now),
        ),
        admin=(
            Servicer.of(
                pb.DESCRIPTOR,
                "ModerationService",
                pb_grpc.add_ModerationServiceServicer_to_server,
                ModerationServicer(moderation, explainer, now),
            ),
            Servicer.of(
                pb.DESCRIPTOR,
                "MaintenanceService",
                pb_grpc.add_MaintenanceServiceServicer_to_server,
                MaintenanceServicer(maintenance),
            ),
        ),
    )
