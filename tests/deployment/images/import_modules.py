"""Imports all modules below some folders, with only the locked packages of an image.

python import_modules.py REQUIREMENTS FOLDER...
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import pkgutil
import re
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from types import ModuleType


class DevelopmentPackages(importlib.abc.MetaPathFinder):
    """Hides the packages that are installed here, but not in an image."""

    def __init__(self, requirements: Path) -> None:
        locked = set(re.findall(r"^([\w.-]+)==", requirements.read_text(), re.MULTILINE))
        self._locked = {_normalized(name) for name in locked}
        self._packages = metadata.packages_distributions()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        distributions = self._packages.get(name, ())
        if distributions and not self._locked.intersection(map(_normalized, distributions)):
            raise ModuleNotFoundError(f"No module named {name!r} in the image", name=name)
        return None


def _normalized(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def main(requirements: str, *folders: str) -> None:
    sys.meta_path.insert(0, DevelopmentPackages(Path(requirements)))
    for module in pkgutil.walk_packages(folders, onerror=_fail):
        importlib.import_module(module.name)


def _fail(name: str) -> None:
    raise ImportError(f"{name} cannot be imported")


if __name__ == "__main__":
    main(*sys.argv[1:])
