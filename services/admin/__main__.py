"""The operator's command, where the services run as processes of their own."""

from __future__ import annotations

import sys

from services.admin.arguments import Program
from services.admin.program import execute

_PROGRAM = Program(
    "python -m services.admin", "Reads reports, blocks and unblocks, removes links and accounts."
)


def main() -> None:
    execute(_PROGRAM, sys.argv[1:])


if __name__ == "__main__":
    main()
