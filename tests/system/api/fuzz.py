"""Fuzzes the REST API by its description: `make fuzz-api`; CALLS=, SEED=.

schemathesis sends requests that match the description, requests that do not, and sequences of them.
No response may be a 5xx or differ from the description. The limits are off: a limited request
would test nothing.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.api_client import ApiClient
from tests.support.product import Product

_CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
_CALLS = re.compile(r"([0-9,]+) generated")


def fuzz(folder: Path, examples: int, seed: int) -> tuple[str, int]:
    """Send up to `examples` requests of each kind to each operation of a product.

    Returns the report and the number of requests. Raises AssertionError for a defect.
    """
    with Product(folder, {"ATAJO_LIMITS": "off"}) as product:
        product.start()
        api = ApiClient(product)
        for number in range(3):
            api.create(title=f"number {number}")
        ran = subprocess.run(
            [
                *(Path(sys.executable).with_name("schemathesis"), "--config-file", _CONFIGURATION),
                *("run", f"{product.url}/api/v1/openapi.json"),
                *("--header", f"Authorization: Bearer {api.key}"),
                *("--max-examples", str(examples), "--seed", str(seed), "--no-color"),
                *("--suppress-health-check", "all", "--continue-on-failure"),
            ],
            check=False,
            capture_output=True,
            text=True,
            cwd=folder,
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    calls = _CALLS.search(ran.stdout)
    assert calls, ran.stdout
    return ran.stdout, int(calls[1].replace(",", ""))


def main() -> None:
    """Repeat with other seeds until there were enough calls."""
    wanted = int(os.environ.get("CALLS") or "100000")
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 31))
    calls = 0
    while calls < wanted:
        with TemporaryDirectory() as folder:
            try:
                _, sent = fuzz(Path(folder), 500, seed)
            except AssertionError as error:
                sys.exit(f"SEED={seed}\n{error}")
        calls += sent
        sys.stdout.write(f"SEED={seed}: {sent} calls, {calls} in all\n")
        seed += 1


if __name__ == "__main__":
    main()
