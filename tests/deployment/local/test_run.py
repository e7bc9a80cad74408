"""The supervisor behind `make run`, as real processes with their own folder and port."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import pytest

from tests.support.ports import free_port
from tests.support.processes import BACKGROUND_SHELL, NO_TLS, PYTHON_PATH, ROOT, TIMEOUT_SECONDS
from tests.support.procfs import children_of, niceness_of_threads
from tests.support.product import PROCESSES, SERVICES
from tests.support.waiting import wait_until

STOP_SECONDS = 5.0
"""Seconds within which a run must have stopped."""


class LocalRun:
    """`python -m deploy.local`, killed at the end with all its processes.

    `by` is the beginning of a command that starts it, if there is one in between.
    """

    def __init__(
        self,
        data: Path,
        settings: Mapping[str, str] | None = None,
        port: int | None = None,
        by: Sequence[str] = (),
    ) -> None:
        self.data = data
        self.port = port or free_port()
        self.url = f"http://localhost:{self.port}"
        self._watched: list[int] = []
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("ATAJO_")}
        self.popen = subprocess.Popen(
            [*by, sys.executable, "-m", "deploy.local"],
            cwd=ROOT,
            env={
                **inherited,
                "PYTHONPATH": PYTHON_PATH,
                "ATAJO_PORT": str(self.port),
                "ATAJO_DATA_DIR": str(data),
                **(settings or {}),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @classmethod
    def ready(
        cls, data: Path, settings: Mapping[str, str] | None = None, by: Sequence[str] = ()
    ) -> Self:
        """Start a run and wait until it serves."""
        run = cls(data, settings, by=by)
        try:
            assert run.popen.stdout is not None
            line = run.popen.stdout.readline()
            assert line, run.popen.communicate()
            run.first_line = line.rstrip("\n")
            # The reconciler starts a moment later.
            wait_until(lambda: "reconciler" in run._read_state()["processes"])
            run.state = run._read_state()
            run._watched = [os.pidfd_open(pid) for pid in run.pids]
        except BaseException:
            run.close()
            raise
        return run

    def _read_state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads((self.data / "run.json").read_text())
        return state

    first_line: str
    state: dict[str, Any]

    @property
    def pids(self) -> list[int]:
        """Ids of the processes without the supervisor."""
        return [process["pid"] for process in self.state["processes"].values()]

    def pid(self, name: str) -> int:
        pid: int = self.state["processes"][name]["pid"]
        return pid

    def end(self) -> tuple[int, str, str]:
        """Wait for its end and return its exit code and output since, on both streams."""
        stdout, stderr = self.popen.communicate(timeout=TIMEOUT_SECONDS)
        return self.popen.returncode, stdout, stderr

    def await_children_end(self, seconds: float) -> None:
        """Assert that no process is left."""
        await_end(self._watched, seconds)

    def close(self) -> None:
        self.popen.kill()
        self.popen.communicate()
        for watched in self._watched:
            if not has_ended(watched, 0):
                signal.pidfd_send_signal(watched, signal.SIGKILL)
            os.close(watched)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def has_ended(watched: int, seconds: float) -> bool:
    return bool(select.select([watched], [], [], max(0.0, seconds))[0])


def await_end(watched: Sequence[int], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    for one in watched:
        assert has_ended(one, deadline - time.monotonic()), "A process lives on."


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRun]:
    """Return a run that no test stops."""
    data = tmp_path_factory.mktemp("local") / "made" / "data"
    settings = {"ATAJO_TEST_MARK": "carried along", "ATAJO_LOG_LEVEL": "info"}
    with LocalRun.ready(data, settings) as run:
        yield run


def test_a_run_prints_one_line_and_serves_on_loopback(running: LocalRun) -> None:
    assert running.first_line == f"Atajo is ready: {running.url}"
    page = httpx.get(f"http://127.0.0.1:{running.port}/", verify=NO_TLS)
    assert page.status_code == 200
    assert f'content="{running.url}"' in page.text
    assert running.popen.poll() is None


def test_run_json_names_every_process(running: LocalRun) -> None:
    state = running.state
    assert state["pid"] == running.popen.pid
    assert state["url"] == running.url
    assert set(state["processes"]) == set(PROCESSES)
    assert sorted(running.pids) == sorted(children_of(running.popen.pid))
    for name in PROCESSES:
        process = state["processes"][name]
        assert httpx.get(f"http://{process['metrics']}/metrics", verify=NO_TLS).status_code == 200
        assert process.keys() >= ({"grpc", "admin"} if name in SERVICES else {"metrics"})
    assert state["processes"]["gateway"]["http"] == f"127.0.0.1:{running.port}"


def test_only_its_owner_can_read_the_signing_secret(running: LocalRun) -> None:
    secret = running.data / "token-secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert len(secret.read_text()) >= 64
    assert stat.S_IMODE(running.data.stat().st_mode) == 0o700


def test_only_its_owner_can_call_the_services(running: LocalRun) -> None:
    """A caller of a service may name any account, and the operator needs no password."""
    sockets = {
        address.removeprefix("unix:")
        for name in SERVICES
        for listener, address in running.state["processes"][name].items()
        if listener in ("grpc", "admin")
    }
    assert sockets == {
        str(running.data / f"{name}.{listener}")
        for name in SERVICES
        for listener in ("calls", "admin")
    }
    assert {Path(path).stat().st_mode for path in sockets} == {stat.S_IFSOCK | 0o700}
    metrics = {process["metrics"] for process in running.state["processes"].values()}
    served = {f"127.0.0.1:{running.port}", *metrics}
    listening = set().union(*(listening_of(pid) for pid in (running.popen.pid, *running.pids)))
    assert {address.rpartition(":")[2] for address in served} == listening


def listening_of(pid: int) -> set[str]:
    """Return the TCP ports on which a process listens."""
    own = {os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir() if entry.is_symlink()}
    lines = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
    ]
    return {
        str(int(fields[1].rpartition(":")[2], 16))
        for fields in lines
        if fields[3] == "0A" and f"socket:[{fields[9]}]" in own
    }


@pytest.mark.parametrize("module", ["services.admin", "deploy.local"])
def test_the_operator_reaches_the_services_by_the_data_folder(
    running: LocalRun, module: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", module, "reports"],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": PYTHON_PATH,
            "ATAJO_DATA_DIR": str(running.data),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_existing_folder_is_closed_to_other_users(tmp_path: Path) -> None:
    folder = tmp_path / "my dáta %20"
    (folder / "journal").mkdir(parents=True)
    for name in ("token-secret", "links.sqlite3", "run.json"):
        (folder / name).touch()
    (folder / "token-secret").write_text("s" * 48)
    (folder / "mine.txt").touch()
    for path in (folder, *folder.iterdir()):
        path.chmod(0o755)
    umask = os.umask(0o022)
    try:
        with LocalRun.ready(folder) as run:
            assert httpx.get(run.url, verify=NO_TLS).status_code == 200
            modes = {path.name: path.stat().st_mode & 0o077 for path in folder.iterdir()}
    finally:
        os.umask(umask)
    assert modes.pop("mine.txt") == 0o055
    assert len(modes) > 12
    assert set(modes.values()) == {0}


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_folder_in_which_others_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    line = refused(LocalRun(tmp_path))
    assert line.startswith(f"Other users can write in the data folder {tmp_path}: run chmod go-w")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_whose_path_is_too_long_for_sockets_is_refused(tmp_path: Path) -> None:
    line = refused(LocalRun(tmp_path / ("d" * 91)))
    assert line.startswith("Settings refused. ATAJO_DATA_DIR: ")
    assert "at most 91 bytes" in line


def test_every_process_inherits_the_environment_and_not_the_terminal(running: LocalRun) -> None:
    for pid in running.pids:
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        assert b"ATAJO_TEST_MARK=carried along" in environment
        assert b"ATAJO_LOG_LEVEL=info" in environment
        assert os.getsid(pid) == pid


def test_background_processes_have_a_lower_priority(running: LocalRun) -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    for name in PROCESSES:
        pid = running.pid(name)
        more = 5 if name in ("analytics", "reconciler") else 0
        assert niceness_of_threads(pid) == {own + more}
        session = Path(f"/proc/{pid}/autogroup")
        if session.exists():
            assert session.read_text().endswith(f" nice {more}\n")


def refused(run: LocalRun) -> str:
    """Return the one line of a run that does not start."""
    with run:
        code, stdout, stderr = run.end()
    assert code == 1
    assert stdout == ""
    assert stderr.count("\n") == 1
    return stderr


def test_a_folder_in_use_is_refused(running: LocalRun) -> None:
    line = refused(LocalRun(running.data))
    assert str(running.data) in line
    assert "in use by another run" in line
    assert (running.data / "run.json").exists()


def test_a_taken_port_is_refused(running: LocalRun, tmp_path: Path) -> None:
    line = refused(LocalRun(tmp_path, port=running.port))
    assert str(running.port) in line
    assert "ATAJO_PORT" in line


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ATAJO_PORT", "70000"),
        ("ATAJO_PUBLIC_URL", "go.example"),
        ("ATAJO_DATA_DIR", "/dev/null/data"),
    ],
)
def test_a_bad_setting_is_one_line(tmp_path: Path, name: str, value: str) -> None:
    line = refused(LocalRun(tmp_path, {name: value}))
    assert (value if name == "ATAJO_DATA_DIR" else name) in line


@pytest.mark.alone
def test_a_signal_stops_everything_and_a_second_one_changes_nothing(tmp_path: Path) -> None:
    with LocalRun.ready(tmp_path) as run:
        started = time.monotonic()
        run.popen.terminate()
        time.sleep(0.05)
        run.popen.terminate()
        assert run.end() == (0, "", "")
        assert time.monotonic() - started < STOP_SECONDS
        run.await_children_end(0)
        assert not (tmp_path / "run.json").exists()


def test_a_background_run_can_be_interrupted(tmp_path: Path) -> None:
    with LocalRun.ready(tmp_path, by=BACKGROUND_SHELL) as run:
        run.popen.send_signal(signal.SIGINT)
        assert run.end() == (0, "", "")
        run.await_children_end(0)


def test_a_run_ends_with_its_interrupted_make(tmp_path: Path) -> None:
    makefile = tmp_path / "Makefile"
    makefile.write_text("run:\n\t@exec $(RUN)\n")
    run_by_make = ("sh", "-c", f'exec make -s -f {makefile} RUN="$*" run', "sh")
    with LocalRun.ready(tmp_path / "data", by=run_by_make) as run:
        run.popen.send_signal(signal.SIGINT)
        run.end()
        run.await_children_end(0)


def test_a_run_continues_while_another_caller_blocks_sigint(
    running: LocalRun, tmp_path: Path
) -> None:
    """Python does so briefly for each process it starts, and longer on a busy machine."""
    with LocalRun.ready(tmp_path, {"MAKELEVEL": "1"}) as run:
        for beside in (running, run):
            assert httpx.get(beside.url, verify=NO_TLS).status_code == 200
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            with pytest.raises(subprocess.TimeoutExpired):
                run.popen.wait(3)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


@pytest.mark.alone
def test_a_process_that_does_not_stop_is_killed_and_named(tmp_path: Path) -> None:
    with LocalRun.ready(tmp_path) as run:
        for name in ("gateway", "links"):
            os.kill(run.pid(name), signal.SIGSTOP)
        started = time.monotonic()
        run.popen.terminate()
        code, _, stderr = run.end()
        assert time.monotonic() - started < STOP_SECONDS
        assert code == 0
        assert "gateway did not stop in time" in stderr
        assert "links did not stop in time" in stderr
        run.await_children_end(0)


@pytest.mark.parametrize("delay", [0.05, 0.35, 0.7])
def test_a_signal_during_the_start_leaves_nothing_behind(tmp_path: Path, delay: float) -> None:
    with LocalRun(tmp_path) as run:
        time.sleep(delay)
        run.popen.terminate()
        code, _, _ = run.end()
        assert code in (0, -signal.SIGTERM)  # The second before anything was started.
        # Every process holds this lock, so none is left.
        with (tmp_path / "processes.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert not (tmp_path / "run.json").exists()


@pytest.mark.parametrize(
    "name",
    [
        "gateway",
        *(pytest.param(name, marks=pytest.mark.slow) for name in (*SERVICES, "reconciler")),
    ],
)
def test_a_process_that_dies_is_named_and_ends_the_run(tmp_path: Path, name: str) -> None:
    with LocalRun.ready(tmp_path) as run:
        os.kill(run.pid(name), signal.SIGKILL)
        code, stdout, stderr = run.end()
        assert code == 128 + signal.SIGKILL
        assert stdout == ""
        assert f"{name} died with code 137" in stderr
        run.await_children_end(0)


def test_processes_end_with_a_supervisor_that_was_killed(tmp_path: Path) -> None:
    with LocalRun.ready(tmp_path) as run:
        secret = (tmp_path / "token-secret").read_bytes()
        run.popen.kill()
        # The next run waits for the remaining processes, and takes over.
        with LocalRun.ready(tmp_path) as following:
            run.await_children_end(0)
            assert following.state["pid"] == following.popen.pid
            assert (tmp_path / "token-secret").read_bytes() == secret
