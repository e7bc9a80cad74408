"""Checks that every locked package has a build for amd64 and arm64: `make check-locks`.

python -m tests.deployment.locks.check

A Python package needs a wheel for the Python and the glibc of the base image, because the image has
no compiler. A package of the pages that is built for one architecture needs its sibling for the
other. Asks the package index for the names of wheels, and downloads none.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.support.processes import ROOT

ARCHITECTURES = ("x86_64", "aarch64")
_GLIBC = {"bookworm": "2_36", "trixie": "2_41"}
"""Version of glibc by Debian release."""
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_BASE_IMAGE = re.compile(r"\bpython:(\d+\.\d+)-slim-(\w+)")


def read_base() -> tuple[str, str]:
    """Return the versions of Python and of glibc in the base image, as `("3.11", "2_36")`."""
    for dockerfile in sorted((ROOT / "deploy" / "images").glob("*Dockerfile")):
        if found := _BASE_IMAGE.search(dockerfile.read_text(encoding="utf-8")):
            return found[1], _GLIBC[found[2]]
    raise LookupError("No Dockerfile in deploy/images names a base image python:<version>-slim-…")


def find_missing_wheels(lock: Path, architecture: str, *options: str) -> list[str]:
    """Return what packages of a lock lack a wheel with a locked hash, and uv's words for it.

    `options` are further options of `uv pip compile`.
    """
    python, glibc = read_base()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-deps", "--no-header"),
            *("--format", "pylock.toml", "--only-binary", ":all:", "--python-version", python),
            *("--python-platform", f"{architecture}-manylinux_{glibc}"),
            *options,
            str(lock),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return [done.stderr.strip()]
    locked = set(_HASH.findall(lock.read_text(encoding="utf-8")))
    return [
        f"{package['name']}: the lock has no hash of a wheel"
        for package in tomllib.loads(done.stdout)["packages"]
        if not locked & {wheel["hashes"]["sha256"] for wheel in package["wheels"]}
    ]


def find_missing_packages(lock: Mapping[str, Any]) -> Iterator[str]:
    """Yield the packages of an npm lock, for Linux with glibc, that one architecture lacks."""
    built = {
        name: package
        for name, package in lock["packages"].items()
        if "linux" in package.get("os", []) and package.get("libc", ["glibc"]) == ["glibc"]
    }
    for architecture, other in (("x64", "arm64"), ("arm64", "x64")):
        for name, package in built.items():
            sibling = built.get(name.replace(architecture, other), {})
            if package.get("cpu") == [architecture] and sibling.get("cpu") != [other]:
                yield f"{name} is for {architecture} only"


def main() -> int:
    """Print what is missing. Return the exit code."""
    npm_lock = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))
    missing = [f"web/package-lock.json: {text}" for text in find_missing_packages(npm_lock)]
    missing += [
        f"{name} on {architecture}: {text}"
        for name in ("requirements.txt", "requirements-dev.txt")
        for architecture in ARCHITECTURES
        for text in find_missing_wheels(ROOT / name, architecture)
    ]
    for text in missing:
        sys.stderr.write(f"{text}\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
