"""Starts the reconciler: `python -m services.reconciler`."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import AsyncExitStack

import uvloop

from services.reconciler.account_removal import AccountRemoval
from services.reconciler.clients import AnalyticsClient, AuthClient, LinksClient
from services.reconciler.job_runner import JobRunner
from services.reconciler.link_purge import LinkPurge
from services.reconciler.ports import Services
from services.reconciler.settings import ReconcilerSettings
from services.reconciler.view_counts import ViewCounts
from services.shared import background, startup, supervisor
from services.shared.observability import logs, tracing
from services.shared.observability.health import Health
from services.shared.observability.monitoring_server import MonitoringServer

log = logs.get(__name__)


async def _serve(settings: ReconcilerSettings) -> None:
    stop = supervisor.stop_event()
    background.stop_on_failure(stop)
    async with AsyncExitStack() as exit_stack:  # Closes in reverse order.
        exit_stack.push_async_callback(asyncio.to_thread, tracing.stop)
        auth = AuthClient(settings.auth_admin_address)
        links = LinksClient(settings.links_admin_address)
        analytics = AnalyticsClient(settings.analytics_address, settings.analytics_admin_address)
        for client in (auth, links, analytics):
            exit_stack.push_async_callback(client.close)
        checks = {"auth": auth.check, "links": links.check, "analytics": analytics.check}
        # The reconciler is ready without its dependencies: it continues once they are back.
        health = Health(checks, needed=())
        monitoring = MonitoringServer("reconciler", settings, health)
        exit_stack.push_async_callback(asyncio.to_thread, monitoring.close)
        exit_stack.callback(health.close)
        await health.start()

        services = Services(auth, links, analytics)
        holder = secrets.token_hex(16)
        jobs = (AccountRemoval(services), LinkPurge(services), ViewCounts(services))
        runners = [JobRunner(job, links, holder) for job in jobs]
        for runner in runners:
            runner.start()
        await health.set_serving()
        startup.finish(metrics=monitoring.address)
        await stop.wait()
        await health.stop()
        await asyncio.gather(*(runner.stop(settings.drain_seconds) for runner in runners))
    log.info("stopped")


def main() -> None:
    settings = ReconcilerSettings.load()
    logs.configure("reconciler", settings.log_level)
    startup.lower_priority()
    tracing.start("reconciler", settings.version)
    uvloop.run(_serve(settings))
    background.exit_if_failed()


if __name__ == "__main__":
    main()
