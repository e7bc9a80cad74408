"""The IP address of a client behind proxies."""

from __future__ import annotations

import json
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from gateway.support.client_ip import ClientIpFinder

CASES = Path(__file__).with_name("client_ip_cases.json")
"""Cases for nginx and the gateway, also used by tests/deployment/nginx/test_gateway.py."""


def groups() -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads(CASES.read_text(encoding="utf-8"))
    return cases


@pytest.mark.parametrize("group", groups())
def test_the_client_is_in_front_of_the_trusted_proxies(group: dict[str, Any]) -> None:
    trusted = [ip_network(one.strip()) for one in group["trusted_proxies"].split(",") if one]
    finder = ClientIpFinder(trusted, group["trusted_hops"])
    for case in group["cases"]:
        forwarded = (case["forwarded"] or "").encode()
        assert str(finder.find("127.0.0.1", forwarded)) == case["client"], case
