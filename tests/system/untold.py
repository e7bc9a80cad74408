"""A gateway that does not notify connections of its shutdown: `python -m tests.system.untold`.

This simulates a connection that is accepted in the turn in which the others are notified.
"""

from __future__ import annotations

from unittest import mock

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateway.__main__ import main

mock.patch.object(HttpToolsProtocol, "shutdown", return_value=None).start()
main()
