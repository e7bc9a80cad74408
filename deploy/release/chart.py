"""Records what `helm push` pushed: `helm push … 2>&1 | python -m deploy.release.chart FOLDER`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from deploy.release.published import CHART, Published, write

_PUSHED = re.compile(r"^Pushed: (\S+)\nDigest: (sha256:[0-9a-f]{64})$", re.MULTILINE)


def parse_push(output: str) -> Published:
    """Return what helm's output says it has pushed. Raises ValueError if it says nothing of it."""
    if not (found := _PUSHED.search(output)):
        raise ValueError(f"helm has not said what it pushed:\n{output}")
    return Published(*found.groups())


if __name__ == "__main__":
    write(Path(sys.argv[1]), CHART, parse_push(sys.stdin.read()))
