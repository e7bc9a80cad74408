"""The container engine, and the images that `make images` built."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

ENGINE = os.environ.get("ATAJO_TEST_ENGINE", "docker")
TAG = os.environ.get("ATAJO_TEST_IMAGES", "dev")
RESTRICTIONS = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
"""Options with which containers run on a cluster, and with Compose."""


def engine(*arguments: str) -> str:
    """Return the engine's output. Raises AssertionError with its errors."""
    done = subprocess.run([ENGINE, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def inspect_image(image: str) -> dict[str, Any]:
    """Return the description of an image."""
    described: list[dict[str, Any]] = json.loads(engine("image", "inspect", image))
    return described[0]


def logs(container: str) -> str:
    """Return what a container wrote on both streams."""
    done = subprocess.run(
        [ENGINE, "logs", container],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return done.stdout
