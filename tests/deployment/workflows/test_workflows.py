"""The workflows: what they run, what they may, and what they trust."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.processes import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
every_workflow = pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)


def load(file: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return loaded


def jobs(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the jobs with steps of their own."""
    for name, job in load(file)["jobs"].items():
        if "steps" in job:
            yield name, job


def make_targets(file: Path) -> set[str]:
    """Return the targets that a workflow makes."""
    targets: set[str] = set()
    for _, job in jobs(file):
        for step in job["steps"]:
            for target in re.findall(r"^make (.+?)(?: [A-Z]+=.*)?$", step.get("run", ""), re.M):
                variable = re.fullmatch(r"\$\{\{ matrix\.(\w+) \}\}", target)
                targets |= set(job["strategy"]["matrix"][variable[1]] if variable else {target})
    return targets


def test_ci_makes_what_must_pass_before_a_merge() -> None:
    required = re.findall(r"^make .*?([a-z0-9-]+)$", (ROOT / ".ci" / "run").read_text(), re.M)
    assert required
    assert set(required) < make_targets(ROOT / ".github" / "workflows" / "ci.yml")


def test_a_release_needs_all_of_ci() -> None:
    release = load(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    assert release["ci"]["uses"] == "./.github/workflows/ci.yml"
    assert set(release["publish"]["needs"]) == {"version", "ci"}


def test_a_release_publishes_what_the_chart_names_by_default() -> None:
    places = load(ROOT / ".github" / "workflows" / "release.yml")["env"]
    values = yaml.safe_load((ROOT / "charts" / "atajo" / "values.yaml").read_text())["image"]
    for image in ("app", "web"):
        assert f"{places['IMAGES']}/{image}" == f"docker.io/{values[image]}"
    assert f"{places['CHARTS']}/atajo" != f"{places['IMAGES']}/atajo"


@every_workflow
def test_every_step_is_an_action_or_a_target(file: Path) -> None:
    assert make_targets(file) <= TARGETS
    for _, job in jobs(file):
        for step in job["steps"]:
            script = re.sub(r"\\\n\s*", "", step.get("run", "")).strip()
            for command in script.splitlines():
                assert re.fullmatch(r"(make|git config|(sudo )?apt-get) [^|;&`]*", command)


@every_workflow
def test_actions_are_pinned_by_commit_and_version(file: Path) -> None:
    used = re.findall(r"uses: (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    assert used
    for action in used:
        assert re.fullmatch(r"\./\S+|[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)


@every_workflow
def test_permissions_are_given_by_job(file: Path) -> None:
    """A workflow may read the repository at most. A job that may more says what for."""
    workflow = load(file)
    assert workflow["permissions"] in ({}, {"contents": "read"})
    assert "secrets" not in str([job.get("env") for job in workflow["jobs"].values()])
    writes = re.findall(r"^ +[a-z-]+: write(.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    assert all(reason.startswith(" # ") for reason in writes)


@every_workflow
def test_a_job_ends_and_leaves_no_token_behind(file: Path) -> None:
    assert "group" in load(file)["concurrency"]
    for name, job in jobs(file):
        assert job["timeout-minutes"] <= 90, name
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"] == {"persist-credentials": False}
