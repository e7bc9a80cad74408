"""The command `atajo`: what it offers, and what running the product does not load of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deployment.local.command import atajo, refused
from tests.support.processes import PYTHON_PATH, ROOT

COMMANDS = (
    *("run", "health", "backup", "restore", "reports", "block", "unblock", "dismiss", "why"),
    *("decisions", "remove-link", "remove-account", "reset-link", "invite", "role"),
)


def test_the_help_lists_all_commands(tmp_path: Path) -> None:
    done = atajo(tmp_path, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: python -m deploy.local [-h] [--json] COMMAND ...\n")
    for command in COMMANDS:
        assert f"\n    {command}" in done.stdout


@pytest.mark.parametrize("command", ["run", "health", "backup", "restore"])
def test_each_command_explains_itself(tmp_path: Path, command: str) -> None:
    done = atajo(tmp_path, command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: python -m deploy.local [--json] {command} [-h]")
    assert f"example: python -m deploy.local {command}" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("backup",), "the following arguments are required: FOLDER"),
        (("backup", ""), "argument FOLDER: must not be empty"),
        (("backup", "--json", "x"), "argument FOLDER: put options before COMMAND"),
        (("backup", "~nobody-here/x"), "argument FOLDER: "),
        (("restore", "one", "two"), "too many arguments"),
        (("run", "now"), "too many arguments"),
        (("--quiet", "backup", "x"), "unknown option: --quiet"),
        (("purge",), "argument COMMAND: invalid choice: 'purge'"),
    ],
)
def test_invalid_arguments_are_refused(
    tmp_path: Path, arguments: tuple[str, ...], reason: str
) -> None:
    done = atajo(tmp_path / "data", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    usage, line = done.stderr.splitlines()
    assert usage.startswith("Usage: python -m deploy.local [")
    assert f"error: {reason}" in line
    assert not list(tmp_path.iterdir())


def test_an_empty_setting_counts_as_unset(tmp_path: Path) -> None:
    done = atajo(tmp_path, "why", "evil.example", settings={"ATAJO_PUBLIC_URL": ""})
    assert refused(done).startswith(f"Atajo does not run over {tmp_path}: ")


def executed(program: str, *arguments: str) -> str:
    """Return the output of a Python program with arguments."""
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": PYTHON_PATH},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_an_installed_command_is_named_as_it_is_called() -> None:
    program = (
        "import sys; sys.argv[0] = '/venv/bin/atajo'; "
        "from deploy.local.__main__ import main; main()"
    )
    assert executed(program, "--help").startswith("Usage: atajo [-h] [--json] COMMAND ...\n")
    assert "example: atajo why -- https://" in executed(program, "why", "--help")


def test_a_run_loads_no_other_command() -> None:
    program = "import sys, deploy.local.run, deploy.local.__main__; print(*sys.modules)"
    loaded = set(executed(program).split())
    assert "deploy.local.supervisor" in loaded
    others = {f"deploy.local.{name}" for name in ("backup", "commands", "restore", "schedule")}
    assert not loaded & {"argparse", "services.admin", *others}
