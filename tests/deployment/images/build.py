"""Follows the Dockerfile without a container engine: `make check-images`.

python -m tests.deployment.images.build   builds all images as far as this machine can

Each stage is a folder that stands for the root of its file system. FROM copies an earlier stage.
COPY copies from the build context or from another stage. RUN runs its commands, with each absolute
path below that folder. Commands of three kinds are replaced: those that install packages, because
those of this checkout are used; those that change the base image, which is not there; and those
that need root. At the end, every module of the images of Python processes is imported with nothing
but the image's files and packages, and the all-in-one must find the pages.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.deployment.images.context import lay_out
from tests.support.processes import ROOT

DOCKERFILE = ROOT / "deploy" / "images" / "Dockerfile"
IMAGES = ("app", "web", "atajo")
"""The stages that `make images` builds."""
IMPORTS = Path(__file__).with_name("import_modules.py")
PACKAGES = ROOT / "web" / "node_modules"

_INSTALLS = (("python", "-m", "venv"), ("pip",), ("npm", "ci"))
_CHANGES_BASE = "cd / && "
"""The beginning of a RUN of which nothing can be followed."""
_NEEDS_ROOT = (("chown",),)
_PROGRAMS = ("/venv/bin", "/usr/local/bin", "/usr/bin")
"""Where a program without a path is looked for."""
_DESCRIBES = {"ARG", "USER", "EXPOSE", "STOPSIGNAL", "LABEL", "CMD", "VOLUME", "HEALTHCHECK"}
"""Instructions that neither add files nor need any."""


class BuildFailedError(Exception):
    """A step of a Dockerfile cannot succeed. The text names it."""


@dataclass
class Stage:
    """A stage of a Dockerfile. `root` stands for the root of its file system."""

    root: Path
    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    def place(self, path: str) -> Path:
        """Return where a path of the Dockerfile is on this machine."""
        return self.root / path.lstrip("/") if path.startswith("/") else self.folder / path


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    """Return the instructions and arguments of a Dockerfile, without its comments."""
    lines = re.sub(r"^\s*#.*\n", "", dockerfile, flags=re.MULTILINE)
    joined = re.sub(r"\\\n\s*", " ", lines)
    return [(name.upper(), rest) for name, rest in re.findall(r"^\s*(\w+)\s+(.+)$", joined, re.M)]


def build(dockerfile: Path, context: Path, folder: Path) -> dict[str, Stage]:
    """Return the stages of a Dockerfile by name. `folder` gets all. Raises BuildFailedError."""
    stages: dict[str, Stage] = {}
    stage = Stage(folder, folder)
    for name, arguments in instructions(dockerfile.read_text(encoding="utf-8")):
        if name == "FROM":
            stage = _new_stage(arguments, folder, stages)
            continue
        try:
            _step(name, arguments, stage, stages, context)
        except (OSError, BuildFailedError) as error:
            step = f"{name} {arguments}"
            raise BuildFailedError(f"{dockerfile.name}: {step}\n  {error}") from None
    return stages


def _new_stage(arguments: str, folder: Path, stages: dict[str, Stage]) -> Stage:
    image, _, name = arguments.partition(" AS ")
    name = name or str(len(stages))
    root = folder / name
    if (base := stages.get(image)) is None:
        root.mkdir(parents=True)
        stages[name] = Stage(root, root)
    else:
        shutil.copytree(base.root, root, symlinks=True)
        stages[name] = Stage(root, root / base.folder.relative_to(base.root), dict(base.env))
    return stages[name]


def _step(name: str, arguments: str, stage: Stage, stages: dict[str, Stage], context: Path) -> None:
    if name == "WORKDIR":
        stage.folder = stage.place(arguments)
        stage.folder.mkdir(parents=True, exist_ok=True)
    elif name == "COPY":
        _copy(arguments, stage, stages, context)
    elif name == "ENV":
        stage.env |= dict(pair.split("=", 1) for pair in shlex.split(arguments))
    elif name == "RUN":
        if not arguments.startswith(_CHANGES_BASE):
            for command in arguments.split(" && "):
                _run(shlex.split(command), stage)
    elif name == "ENTRYPOINT":
        _require_program(arguments, stage)
    elif name not in _DESCRIBES:
        raise BuildFailedError(f"{__name__} does not know this instruction.")


def _copy(arguments: str, stage: Stage, stages: dict[str, Stage], context: Path) -> None:
    *sources, destination = arguments.split()
    source = context
    if sources[0].startswith("--from="):
        source = stages[sources.pop(0).removeprefix("--from=")].root
    target = stage.place(destination)
    for path in sources:
        found = source / path.lstrip("/")
        if found.is_dir():
            shutil.copytree(found, target, dirs_exist_ok=True, symlinks=True)
        elif destination.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(found, target)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(found, target)


def _run(command: list[str], stage: Stage) -> None:
    if _starts(command, _INSTALLS):
        return _install(command, stage)
    if _starts(command, _NEEDS_ROOT):
        return None
    program, *arguments = command
    # The base images have no packages: a step must do with the standard library.
    programs = {"python": [sys.executable, "-S"]}
    placed = [str(stage.place(part)) if part.startswith("/") else part for part in arguments]
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [*programs.get(program, [program]), *placed],
        cwd=stage.folder,
        env=inherited,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BuildFailedError(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stdout}")
    return None


def _starts(command: list[str], prefixes: tuple[tuple[str, ...], ...]) -> bool:
    return any(tuple(command[: len(prefix)]) == prefix for prefix in prefixes)


def _install(command: list[str], stage: Stage) -> None:
    """Give the stage the packages of this checkout."""
    if command[0] == "npm":
        # Not the folder as a whole, because builds write their caches there.
        (stage.folder / "node_modules").mkdir()
        for package in PACKAGES.iterdir():
            if not package.name.startswith(".") or package.name == ".bin":
                (stage.folder / "node_modules" / package.name).symlink_to(package)
    elif "venv" in command:
        stage.place(command[-1]).mkdir(parents=True)


def _require_program(arguments: str, stage: Stage) -> None:
    program = re.findall(r'"([^"]+)"', arguments)[0]
    paths = [program] if "/" in program else [f"{folder}/{program}" for folder in _PROGRAMS]
    if not any(os.access(stage.place(path), os.X_OK) for path in paths):
        raise BuildFailedError("There is no such program.")


def import_modules(stage: Stage) -> None:
    """Import every module of an image. Raises BuildFailedError."""
    folders = [str(folder) for folder in _python_path(stage)]
    arguments = (str(IMPORTS), str(ROOT / "requirements.txt"), *folders)
    _run_python(stage, arguments, "The image's modules cannot be imported.")


def check_pages(stage: Stage) -> None:
    """Check that a run in an image finds the pages. Raises BuildFailedError."""
    check = "from deploy.local.settings import check_web_built; check_web_built()"
    _run_python(stage, ("-c", check), "The image has no pages.")


def _python_path(stage: Stage) -> list[Path]:
    return [stage.place(folder) for folder in stage.env["PYTHONPATH"].split(":")]


def _run_python(stage: Stage, arguments: Sequence[str], failure: str) -> None:
    """Run Python with the modules of an image and the packages of this checkout."""
    path = os.pathsep.join(map(str, _python_path(stage)))
    done = subprocess.run(
        [sys.executable, "-P", *arguments],
        cwd=stage.folder,
        env={"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BuildFailedError(f"{failure}\n{done.stderr}")


def main() -> int:
    """Build all images, print the step that fails, and return the exit code."""
    with tempfile.TemporaryDirectory(prefix="atajo-images-") as folder:
        context = Path(folder) / "context"
        lay_out(ROOT, context)
        try:
            stages = build(DOCKERFILE, context, Path(folder) / "stages")
            for name in IMAGES:
                if "PYTHONPATH" in stages[name].env:
                    import_modules(stages[name])
            check_pages(stages["atajo"])
        except BuildFailedError as failed:
            sys.stderr.write(f"{failed}\n")
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
