"""Reads /proc, tolerating processes and threads that end meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

_PROC = Path("/proc")
# Positions in a stat line, counted after the parenthesized command name.
_PARENT = 1
_NICE = 16


def children_of(pid: int) -> list[int]:
    """Return the children of a process, whichever of its threads started them.

    `task/*/children` cannot say so reliably: a thread may end before its file is read, and its
    children then move to another thread.
    """
    return [
        child
        for child in _numbers_in(_PROC)
        if (fields := _stat(_PROC / str(child))) and int(fields[_PARENT]) == pid
    ]


def threads_of(pid: int) -> list[int]:
    """Return the threads of a process. Each of them may have ended by now."""
    return _numbers_in(_PROC / str(pid) / "task")


def niceness_of_threads(pid: int) -> set[int]:
    """Return the nice values of all threads of a process."""
    tasks = _PROC / str(pid) / "task"
    stats = (_stat(tasks / str(thread)) for thread in threads_of(pid))
    return {int(fields[_NICE]) for fields in stats if fields}


def read(path: Path) -> str:
    """Return the text of a file of a process, "" if the process or thread has ended."""
    try:
        return path.read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _numbers_in(folder: Path) -> list[int]:
    return [int(name) for name in os.listdir(folder) if name.isdecimal()]


def _stat(folder: Path) -> list[str]:
    return read(folder / "stat").rpartition(")")[2].split()
