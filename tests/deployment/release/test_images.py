"""The names of the images that make builds: for tests, and for a release."""

from __future__ import annotations

import os
import re
import subprocess

from deploy.release.versions import read_version
from tests.support.processes import ROOT

NAMES = ("app", "web", "atajo")


def read_tags(target: str) -> list[str]:
    """Return the tags that a target gives to images while IMAGES names a registry."""
    env = {name: value for name, value in os.environ.items() if name not in ("TAG", "MAKEFLAGS")}
    command = ["make", "--dry-run", target]
    output = subprocess.run(
        command,
        cwd=ROOT,
        env={**env, "IMAGES": "registry.example/shortener"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return re.findall(r" --tag (\S+)", output)


def test_images_for_tests_keep_their_names_while_a_registry_is_named() -> None:
    assert read_tags("images") == [f"atajo/{name}:dev" for name in NAMES]


def test_a_release_builds_images_for_the_registry() -> None:
    version = read_version()
    expected = [f"registry.example/shortener/{name}:{version}" for name in NAMES]
    assert read_tags("release-images") == expected
