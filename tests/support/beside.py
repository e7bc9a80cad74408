"""What tests of one run that go on beside each other, in several workers, share."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Turns:
    """Tests beside each other, but for those that must be alone. Workers share the folder.

    Two locks that end with their process, however that ends. Whoever begins goes through the door;
    one that must be alone holds it until the others have left, so that none of them comes between.
    """

    def __init__(self, folder: Path) -> None:
        self._door = folder / "door.lock"
        self._room = folder / "room.lock"

    @contextmanager
    def turn(self, *, alone: bool) -> Iterator[None]:
        """Wait for a place, and have it for the block."""
        with self._room.open("w") as room:
            with self._door.open("w") as door:
                fcntl.flock(door, fcntl.LOCK_EX)
                fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
            yield
