"""A gateway that ends, of which connections are not told: `python -m tests.system.untold`.

As it is with one that is taken up in the turn in which the others are told.
"""

from __future__ import annotations

from unittest import mock

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateway.__main__ import main

mock.patch.object(HttpToolsProtocol, "shutdown", return_value=None).start()
main()
