"""That `make check-images` finds what would fail a build. It builds the real images itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.deployment.images.build import BuildFailedError, build, import_modules
from tests.deployment.images.context import lay_out

DOCKERFILE = """
ARG BASE=python
# Writes a file.
FROM ${BASE} AS build
WORKDIR /src
COPY code/ code/
RUN python -m code.write \\
      /out/answer \\
 && chmod a+x /out/answer
FROM ${BASE}
COPY --from=build /out /srv/
COPY one other /srv/files/
WORKDIR /app
COPY package/ package/
ENV PATH=/venv/bin:${PATH} \\
    PYTHONPATH=/app
ENTRYPOINT ["/srv/answer"]
"""
FILES = {
    ".dockerignore": "*\n!code\n!package\n!one\n!other\n",
    "code/__init__.py": "",
    "code/write.py": (
        "import sys\nfrom pathlib import Path\nfrom code import text\n"
        "Path(sys.argv[1]).parent.mkdir()\nPath(sys.argv[1]).write_text(text.ANSWER)\n"
    ),
    "code/text.py": "ANSWER = '42'\n",
    "package/__init__.py": "",
    "package/module.py": "import structlog\n",
    "one": "1",
    "other": "2",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        file = tmp_path / "checkout" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "checkout"


def built(checkout: Path) -> Path:
    """Follow the Dockerfile, and return the root of the image's file system."""
    folder = checkout.parent
    (folder / "context").mkdir()
    lay_out(checkout, folder / "context")
    (folder / "test.Dockerfile").write_text(DOCKERFILE)
    stage = build(folder / "test.Dockerfile", folder / "context", folder / "stages")
    import_modules(stage)
    return stage.root


def test_a_complete_context_is_built(checkout: Path) -> None:
    root = built(checkout)
    assert (root / "srv" / "answer").read_text() == "42"
    assert {path.name for path in (root / "srv" / "files").iterdir()} == {"one", "other"}


@pytest.mark.parametrize(
    ("missing", "step"),
    [
        ("one", "COPY one other /srv/files/"),
        ("code", "COPY code/ code/"),
        ("code/text.py", "RUN python -m code.write"),
    ],
)
def test_a_file_that_the_context_lacks_fails_the_step_that_needs_it(
    checkout: Path, missing: str, step: str
) -> None:
    with (checkout / ".dockerignore").open("a") as ignored:
        ignored.write(missing)
    with pytest.raises(BuildFailedError, match=re.escape(f"test.Dockerfile: {step}")):
        built(checkout)


@pytest.mark.parametrize("package", ["pytest", "package.missing"])
def test_a_module_that_the_image_lacks_fails_the_import(checkout: Path, package: str) -> None:
    (checkout / "package" / "module.py").write_text(f"import {package}\n")
    with pytest.raises(BuildFailedError, match=f"No module named '{package}'"):
        built(checkout)
