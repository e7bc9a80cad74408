"""Lists known vulnerabilities of locked dependencies: `python -m deploy.local.audit`.

Fails only for findings. Says which packages could not be checked, because silence would look like
safety.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from deploy.local.settings import ROOT

_PIP_AUDIT = (
    *(sys.executable, "-m", "pip_audit", "-r", "requirements-dev.txt", "--require-hashes"),
    *("--disable-pip", "--progress-spinner", "off", "--format", "json"),
)
_NPM_AUDIT = ("npm", "--prefix", "web", "audit", "--json")


def main() -> None:
    lines, found = [], False
    for audit in (_python_packages, _npm_packages):
        messages, findings = audit()
        lines += messages
        found = found or findings
    sys.stdout.write("\n".join(lines) + "\n")
    sys.exit(1 if found else 0)


def _python_packages() -> tuple[list[str], bool]:
    packages = _report(_PIP_AUDIT).get("dependencies", [])
    findings = [
        f"Python package {package['name']} {package['version']}: {fault['id']}"
        for package in packages
        for fault in package.get("vulns", [])
    ]
    unknown = sum("skip_reason" in package for package in packages)
    if unknown or not packages:
        note = f"Python packages: {unknown or 'all'} NOT AUDITED, there is no data about them here."
        return [*findings, note], bool(findings)
    return findings or [f"Python packages: {len(packages)} without known faults."], bool(findings)


def _npm_packages() -> tuple[list[str], bool]:
    report = _report(_NPM_AUDIT)
    if "vulnerabilities" not in report:
        return ["npm packages: all NOT AUDITED, the data cannot be reached from here."], False
    findings = [
        f"npm package {name}: {fault['severity']}"
        for name, fault in report["vulnerabilities"].items()
    ]
    return findings or ["npm packages: none with known faults."], bool(findings)


def _report(command: Sequence[str]) -> dict[str, Any]:
    """Return a tool's JSON report, or an empty one if it printed none."""
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    try:
        report: dict[str, Any] = json.loads(ended.stdout)
    except ValueError:
        return {}
    return report


if __name__ == "__main__":
    main()
