"""What SQL may call of Python, for as long as a statement needs it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from services.runtime.sqlite import functions


def test_what_a_function_raises_reaches_who_ran_the_statement() -> None:
    def broken(value: str) -> str:
        raise LookupError(value)

    with closing(sqlite3.connect(":memory:")) as connection:
        with pytest.raises(LookupError, match="seen"), functions(connection, broken=broken):
            connection.execute("SELECT broken('seen')")
        with (
            pytest.raises(sqlite3.OperationalError, match="no such table"),
            functions(connection, broken=broken),
        ):
            connection.execute("SELECT broken(name) FROM nowhere")


def test_a_function_is_there_for_its_block_alone() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        with functions(connection, twice=lambda text: 2 * text):
            assert connection.execute("SELECT twice('ab')").fetchone() == ("abab",)
        with pytest.raises(sqlite3.OperationalError):
            connection.execute("SELECT twice('ab')")
