"""What functions and operations of the REST API call."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.backends.auth import AuthClient
from gateway.backends.links import LinksClient
from gateway.redirects.resolver import Resolver
from gateway.support.client_ip import ClientIpFinder
from gateway.support.rate_limits import CallLimiter
from gateway.use_cases.administration import Administration
from gateway.use_cases.limits import Limits
from gateway.use_cases.links import LinkEditor, LinkPresenter
from gateway.use_cases.policy import Policy
from gateway.use_cases.profiles import Profiles
from gateway.use_cases.statistics import StatisticsReader
from gateway.visits.pipeline import VisitPipeline


@dataclass(frozen=True)
class Services:
    """Clients and use cases, with what bounds the calls of one client or account."""

    auth: AuthClient
    links: LinksClient
    administration: Administration
    editor: LinkEditor
    presenter: LinkPresenter
    statistics: StatisticsReader
    profiles: Profiles
    resolver: Resolver
    visits: VisitPipeline
    clients: ClientIpFinder
    running: CallLimiter
    limits: Limits
    policy: Policy
