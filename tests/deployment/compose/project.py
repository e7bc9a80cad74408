"""A project of compose.yaml, with the tested image and volumes of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.deployment.images.engine import ENGINE, TAG, engine
from tests.support.gateway_client import new_code
from tests.support.processes import ROOT


class Project:
    """Services of compose.yaml and of a second file, `override`."""

    def __init__(self, env: Mapping[str, str], override: Path) -> None:
        self.name = f"atajo-test-{new_code().strip('-_').lower()}"
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith("ATAJO_")
        }
        self._env = {**inherited, **env}
        self._override = override

    def compose(self, *arguments: str) -> str:
        """Return the output of a command. Raises AssertionError with its errors."""
        files = ("--file", str(ROOT / "compose.yaml"), "--file", str(self._override))
        done = subprocess.run(
            [ENGINE, "compose", "--project-name", self.name, *files, *arguments],
            env=self._env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def container(self, service: str) -> str:
        """Return the id of a service's container."""
        return self.compose("ps", "--all", "--quiet", service)

    def run(self, service: str, *command: str) -> str:
        """Return the output of a command in a service's container."""
        return self.compose("exec", "--no-TTY", service, *command)

    def health(self, service: str) -> str:
        """Return `starting`, `healthy` or `unhealthy`."""
        return engine("inspect", "--format", "{{.State.Health.Status}}", self.container(service))

    def logs(self, *services: str) -> str:
        return self.compose("logs", "--no-log-prefix", *services)


@contextmanager
def running_project(
    folder: Path,
    env: Mapping[str, str] | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Project]:
    """Run the services until the context ends, then delete their volumes.

    `env` are variables as in a file .env, `settings` further settings of Atajo.
    """
    override = folder / "override.yaml"
    atajo = {"image": f"atajo/atajo:{TAG}", "environment": dict(settings or {})}
    override.write_text(json.dumps({"services": {"atajo": atajo}}))
    project = Project(env or {}, override)
    try:
        project.compose("up", "--detach")
        yield project
    finally:
        project.compose("--profile", "*", "down", "--volumes", "--timeout", "0")
