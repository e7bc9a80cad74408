"""Prints the description: `python -m gateway.api`."""

from __future__ import annotations

import sys

from gateway.api.app import create_app
from gateway.api.description import text

if __name__ == "__main__":
    sys.stdout.write(text(create_app().openapi))
