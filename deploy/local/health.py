"""Whether the product runs and serves: `atajo health`, which a container engine calls repeatedly.

It imports little, because it takes processor time from the product: settings and an HTTP client
would take three times as long as everything that it does.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from services.shared.environment import PREFIX, read_variable

_DEFAULT_FOLDER = Path(__file__).resolve().parents[2] / ".data"
"""The default of `RunSettings.data_dir`."""
_TIMEOUT_SECONDS = 3.0
"""Time within which all processes must answer."""
_MIN_SECONDS = 0.2
"""Time that each process has, even if others used up all of it."""
_REQUEST = b"GET /readyz HTTP/1.0\r\n\r\n"
_READY = "ready"
_SILENT = "it does not answer"


def check(*, as_json: bool = False) -> NoReturn:
    """Say whether every process is ready, in one line or as JSON. Exit with 0 if so, else 1."""
    folder = Path(read_variable(f"{PREFIX}DATA_DIR") or _DEFAULT_FOLDER).expanduser()
    states = read_states(folder)
    is_ready = bool(states) and set(states.values()) == {_READY}
    if as_json:
        sys.stdout.write(json.dumps({"ready": is_ready, "processes": states}, indent=2) + "\n")
    elif is_ready:
        sys.stdout.write("Atajo is ready.\n")
    elif states:
        away = ", ".join(f"{name}: {why}" for name, why in states.items() if why != _READY)
        sys.stderr.write(f"Atajo is not ready. {away}.\n")
    else:
        sys.stderr.write(f"Atajo does not run over {folder}, or has not started yet.\n")
    sys.exit(not is_ready)


def read_states(folder: Path) -> dict[str, str]:
    """Return for each process of the run `ready`, or why it is not. Empty if none runs.

    A run stores where its processes listen once it serves.
    """
    try:
        state = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        endpoints = {name: process["metrics"] for name, process in state["processes"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return _ask_all(endpoints)


def _ask_all(endpoints: Mapping[str, str]) -> dict[str, str]:
    """Connect to all processes, then ask each, so that silent ones share the time."""
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    connections = {name: _connect(endpoint) for name, endpoint in endpoints.items()}
    return {name: _ask_process(connection, deadline) for name, connection in connections.items()}


def _connect(endpoint: str) -> socket.socket:
    """Begin to connect. An error shows when the connection is used."""
    host, _, port = endpoint.rpartition(":")
    connection = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    connection.setblocking(False)
    connection.connect_ex((host.strip("[]"), int(port)))
    return connection


def _ask_process(connection: socket.socket, deadline: float) -> str:
    """Return the state of a process. Closes the connection."""
    answer = b""
    with connection:
        connection.settimeout(max(_MIN_SECONDS, deadline - time.monotonic()))
        try:
            connection.sendall(_REQUEST)
            while chunk := connection.recv(65536):
                answer += chunk
        except OSError:
            return _SILENT
    head, _, body = answer.partition(b"\r\n\r\n")
    status = head.split(b" ", 2)
    if status[1:2] == [b"200"]:
        return _READY
    try:
        dependencies = json.loads(body)["dependencies"]
        away = [f"{name} {state}" for name, state in dependencies.items() if state != "ok"]
    except (ValueError, KeyError, TypeError, AttributeError):
        return _SILENT
    return ", ".join(away) or "it stops"
