"""That `make check-images` finds what would fail a build. It builds the real images itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.deployment.images.build import (
    BuildFailedError,
    Stage,
    build,
    check_pages,
    import_modules,
)
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
FROM --platform=${BUILDPLATFORM} ${BASE} AS service
COPY --from=build /out /srv/
COPY one other /srv/files/
WORKDIR /app
COPY package/ package/
ENV PATH=/venv/bin:${PATH} \\
    PYTHONPATH=/app
ENTRYPOINT ["/srv/answer"]
FROM service AS all
COPY program /usr/local/bin/
COPY deploy/ deploy/
COPY pages/ web/dist/
RUN chmod a+x /usr/local/bin/program \\
 && chown nobody /app
ENTRYPOINT ["program"]
"""
FILES = {
    ".dockerignore": "*\n!code\n!package\n!one\n!other\n!program\n!deploy\n!pages\n",
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
    "program": "#!/bin/sh\n",
    "deploy/__init__.py": "",
    "deploy/local/__init__.py": "",
    "deploy/local/settings.py": (
        "from pathlib import Path\nROOT = Path(__file__).parents[2]\n"
        "def check_web_built():\n    (ROOT / 'web' / 'dist' / 'index.html').read_bytes()\n"
    ),
    "pages/index.html": "",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        file = tmp_path / "checkout" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "checkout"


def built(checkout: Path, dockerfile: str = DOCKERFILE) -> dict[str, Stage]:
    """Follow the Dockerfile, check its images, and return its stages."""
    folder = checkout.parent
    (folder / "context").mkdir()
    lay_out(checkout, folder / "context")
    (folder / "test.Dockerfile").write_text(dockerfile)
    stages = build(folder / "test.Dockerfile", folder / "context", folder / "stages")
    import_modules(stages["service"])
    import_modules(stages["all"])
    check_pages(stages["all"])
    return stages


def test_a_complete_context_is_built(checkout: Path) -> None:
    stages = built(checkout)
    for name in ("service", "all"):
        folder = stages[name].root / "srv"
        assert (folder / "answer").read_text() == "42"
        assert {path.name for path in (folder / "files").iterdir()} == {"one", "other"}
    assert not (stages["service"].root / "app" / "deploy").exists()


@pytest.mark.parametrize(
    ("missing", "step"),
    [
        ("one", "COPY one other /srv/files/"),
        ("code", "COPY code/ code/"),
        ("code/text.py", "RUN python -m code.write"),
        ("program", "COPY program /usr/local/bin/"),
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


def test_an_entry_point_that_cannot_be_executed_fails(checkout: Path) -> None:
    with pytest.raises(BuildFailedError, match="There is no such program"):
        built(checkout, DOCKERFILE.replace("RUN chmod a+x /usr/local/bin/program", "RUN true"))


def test_pages_that_the_image_lacks_fail_the_check(checkout: Path) -> None:
    (checkout / "pages" / "index.html").rename(checkout / "pages" / "about.html")
    with pytest.raises(BuildFailedError, match="The image has no pages"):
        built(checkout)
