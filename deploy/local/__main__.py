"""The command `atajo`: runs the product on this machine, and operates it.

`python -m deploy.local` runs the product, as it does with `run`. Neither that nor `health`, which a
container engine executes again and again, imports anything of the other commands.
"""

from __future__ import annotations

import sys
from pathlib import Path

_GENERATED = Path(__file__).resolve().parents[2] / "proto" / "gen"


def main() -> None:
    sys.path.append(str(_GENERATED))
    match sys.argv[1:]:
        case [] | ["run"]:
            from deploy.local.signals import end_at_signals

            end_at_signals()  # First: the imports take most of the time of a start.
            from deploy.local.run import run

            run()
        case ["health"] | ["--json", "health"] as arguments:
            from deploy.local.health import check

            check(as_json="--json" in arguments)
        case arguments:
            from deploy.local.commands import execute

            execute(arguments)


if __name__ == "__main__":
    main()
