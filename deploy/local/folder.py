"""The data folder of a local run: its locks, sockets, token secret and state file.

Other users of the machine can neither read its files nor reach the services: everything that a run
writes, sockets too, belongs to its user alone.
"""

from __future__ import annotations

import errno
import fcntl
import hmac
import json
import os
import secrets
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

UMASK = 0o077
"""The umask of everything that writes in a data folder."""
RESTORING = "restoring"
"""Folder of a restore that must be completed before anything else uses the data."""
DRAFT = RESTORING + ".partial"
"""Folder of a restore that has changed nothing yet."""
_OTHERS = 0o077
_OTHERS_WRITE = 0o022
_FILES = ("*.sqlite3*", "journal", "token-secret", "run.json", "*lock")
"""What a run writes, besides its sockets."""
_MIN_FREE_BYTES = 1 << 20
"""Space on the disk that a start needs, a first one 600 kB."""
_EXIT_TIMEOUT = 5.0
"""Seconds that the processes of a killed run may take to end."""


class DataFolder:
    """A data folder that this run has locked.

    There are two locks. `lock` is released with the supervisor. `inherited` is passed to every
    process and released with the last of them, even if the supervisor was killed before.
    """

    def __init__(self, path: Path, inherited: int) -> None:
        self.path = path
        self.inherited = inherited
        self.secret_file = path / "token-secret"
        self._state_file = path / "run.json"

    @classmethod
    @contextmanager
    def held(cls, path: Path) -> Iterator[Self]:
        """Lock the folder until the context ends. Creates it if necessary.

        Files of an earlier run that other users can read are closed to them. Raises SystemExit with
        one line if another run holds the folder, it cannot be written, or others can write in it.
        """
        with ExitStack() as stack:
            try:
                path.mkdir(mode=0o700, parents=True, exist_ok=True)
                if path.stat().st_mode & _OTHERS_WRITE:
                    raise SystemExit(
                        f"Other users can write in the data folder {path}: run chmod go-w on it, "
                        "or set ATAJO_DATA_DIR to another folder."
                    )
                stack.callback(os.close, _locked(path / "lock", 0))
                inherited = _locked(path / "processes.lock", _EXIT_TIMEOUT)
                stack.callback(os.close, inherited)
                folder = cls(path, inherited)
                folder.forget_state()
                folder._check_access()
                folder._check_space()
                folder._close_to_others()
            except BlockingIOError:
                raise SystemExit(
                    f"The data folder {path} is in use by another run: "
                    "stop that, or set ATAJO_DATA_DIR to another folder."
                ) from None
            except OSError as error:
                raise SystemExit(explain(path, error)) from None
            yield folder

    @property
    def is_restoring(self) -> bool:
        """Whether a restore was interrupted here."""
        return any((self.path / name).exists() for name in (RESTORING, DRAFT))

    def socket(self, name: str) -> str:
        """Return the address of a Unix socket in the folder."""
        return f"unix:{quote(os.fsencode(self.path / name))}"

    def write_state(self, state: Mapping[str, Any]) -> None:
        """Write which process listens where, for tools and tests."""
        _write(self._state_file, json.dumps(state, indent=2) + "\n")

    def forget_state(self) -> None:
        """Delete the state file: nothing runs here any more."""
        self._state_file.unlink(missing_ok=True)

    def _files(self) -> Iterator[Path]:
        for pattern in _FILES:
            yield from self.path.glob(pattern)

    def _check_access(self) -> None:
        """Raise PermissionError for the first file that this user cannot read and write."""
        for file in (*self._files(), *self.path.glob("journal/*")):
            if not os.access(file, os.R_OK | os.W_OK | (os.X_OK if file.is_dir() else 0)):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))

    def _check_space(self) -> None:
        """Raise OSError if the disk has no space for the logs of the stores."""
        disk = os.statvfs(self.path)
        if disk.f_bavail * disk.f_frsize < _MIN_FREE_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))

    def _close_to_others(self) -> None:
        """Withdraw the permissions of other users, which an earlier version gave them."""
        for file in self._files():
            mode = file.stat().st_mode
            if mode & _OTHERS:
                file.chmod(stat.S_IMODE(mode) & ~_OTHERS)

    def derive_administration_secret(self) -> str:
        """Return the secret of administrators' passes, which the token secret determines.

        Raises SystemExit with one line.
        """
        try:
            secret = self.secret_file.read_bytes().strip()
        except OSError as error:
            raise SystemExit(explain(self.path, error)) from None
        return hmac.digest(secret, b"atajo administration", "sha256").hex()

    def ensure_secret(self) -> None:
        """Create the token secret if there is none. Raises SystemExit with one line."""
        try:
            if not self.secret_file.exists():
                _write(self.secret_file, secrets.token_urlsafe(48))
        except OSError as error:
            raise SystemExit(explain(self.path, error)) from None


def read_state(path: Path) -> dict[str, Any] | None:
    """Return what the run over a data folder wrote of itself; None if none runs there.

    A run that was killed leaves its state.
    """
    try:
        state = json.loads((path / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return state if isinstance(state, dict) else None


def explain(folder: Path, error: OSError) -> str:
    """Return one line that says why a data folder cannot be used, and what to do about it."""
    match error.errno:
        case errno.EACCES | errno.EPERM if os.path.exists(folder):
            file = Path(os.fsdecode(error.filename or folder))
            return _explain_permissions(folder, file if os.path.exists(file) else folder)
        case errno.EROFS:
            why = "its file system is read-only. Mount it writable"
        case errno.ENOSPC | errno.EDQUOT:
            why = "its disk is full. Free some space there"
        case _:
            why = f"{error.strerror}. Check its path and its disk"
    return f"Cannot use the data folder {folder}: {why}, or set ATAJO_DATA_DIR to another folder."


def _explain_permissions(folder: Path, file: Path) -> str:
    """Explain that `file`, which is `folder` or in it, is not this user's to read and write."""
    user, group = os.geteuid(), os.getegid()
    found = file.stat()
    if found.st_uid == user:
        return f"User {user} may not read and write {file}: run chmod -R u+rwX on {folder}."
    alternative = f", or run Atajo as that user (docker run --user {found.st_uid}:{found.st_gid})"
    return (
        f"Atajo runs as user {user} and may not read and write {file}, which belongs to user "
        f"{found.st_uid}: run chown -R {user}:{group} on {folder} (in a container: on what is "
        f"mounted there){alternative if found.st_uid else ''}."
    )


def _locked(path: Path, seconds: float) -> int:
    """Open and lock a file within `seconds`. Raises BlockingIOError."""
    deadline = time.monotonic() + seconds
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(fd)
                raise
            time.sleep(0.05)
        else:
            return fd


def _write(path: Path, text: str) -> None:
    """Create or replace a file atomically, synced, and readable only by its owner."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on disk."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
