"""Locks of made-up packages that lack a build for an architecture."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.deployment.locks.check import (
    ARCHITECTURES,
    find_missing_packages,
    find_missing_wheels,
    read_base,
)
from tests.support.processes import ROOT

ARM64 = "cp311-cp311-manylinux_2_17_aarch64"


def missing_wheels(folder: Path, *tags: str, locked: int | None = None) -> list[str]:
    """Return the architectures for which a package with wheels of these tags cannot be installed.

    Its lock has the hashes of the first `locked` wheels.
    """
    hashes = []
    for tag in tags:
        wheel = folder / f"sample-1.0-{tag}.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, text in (
                ("METADATA", "Metadata-Version: 2.1\nName: sample\nVersion: 1.0\n"),
                ("WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n"),
                ("RECORD", ""),
            ):
                archive.writestr(f"sample-1.0.dist-info/{name}", text)
        hashes.append(f"--hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}")
    lock = folder / "requirements.txt"
    lock.write_text(f"sample==1.0 {' '.join(hashes[:locked])}\n")
    options = ("--no-index", "--find-links", str(folder), "--no-cache")
    return [name for name in ARCHITECTURES if find_missing_wheels(lock, name, *options)]


@pytest.mark.parametrize(
    ("tags", "missing"),
    [
        (["py3-none-any"], []),
        (["cp311-cp311-manylinux_2_17_x86_64", ARM64], []),
        (["cp311-abi3-manylinux_2_17_x86_64", "cp39-abi3-manylinux2014_aarch64"], []),
        (["cp311-cp311-manylinux_2_17_x86_64"], ["aarch64"]),
        ([ARM64], ["x86_64"]),
        (["cp310-cp310-manylinux_2_17_x86_64", ARM64], ["x86_64"]),
        (["py3-none-manylinux_2_17_x86_64", "py3-none-manylinux_2_99_aarch64"], ["aarch64"]),
        (["py3-none-manylinux_2_17_x86_64", "py3-none-musllinux_1_2_aarch64"], ["aarch64"]),
    ],
)
def test_a_package_without_a_wheel_for_an_architecture_is_found(
    tmp_path: Path, tags: list[str], missing: list[str]
) -> None:
    assert missing_wheels(tmp_path, *tags) == missing


def test_a_wheel_whose_hash_is_not_locked_does_not_count(tmp_path: Path) -> None:
    tags = ("cp311-cp311-manylinux_2_17_x86_64", ARM64)
    assert missing_wheels(tmp_path, *tags, locked=1) == ["aarch64"]


def package(cpu: str, libc: str | None = "glibc", system: str = "linux") -> dict[str, Any]:
    return {"os": [system], "cpu": [cpu], **({"libc": [libc]} if libc else {})}


@pytest.mark.parametrize(
    ("packages", "missing"),
    [
        ({"": {}, "a": {}}, []),
        ({"a-x64-gnu": package("x64"), "a-arm64-gnu": package("arm64")}, []),
        ({"a-x64": package("x64", None)}, ["a-x64 is for x64 only"]),
        ({"a-arm64-gnu": package("arm64")}, ["a-arm64-gnu is for arm64 only"]),
        (
            {"a-x64": package("x64"), "a-arm64": package("arm64", system="darwin")},
            ["a-x64 is for x64 only"],
        ),
        (
            {"a-x64-musl": package("x64", "musl"), "a-darwin-x64": package("x64", system="darwin")},
            [],
        ),
    ],
)
def test_a_package_of_the_pages_without_a_sibling_is_found(
    packages: dict[str, Any], missing: list[str]
) -> None:
    assert list(find_missing_packages({"packages": packages})) == missing


def test_the_packages_of_the_pages_have_siblings() -> None:
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))
    assert list(find_missing_packages(lock)) == []


def test_the_wheels_are_those_of_the_base_image() -> None:
    assert read_base() == ("3.11", "2_36")
