"""Values that the chart refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.deployment.chart.render import (
    CHART,
    RefusedError,
    text,
)

DEFAULTS = yaml.safe_load((CHART / "values.yaml").read_text())


def objects(values: dict[str, Any], path: str = "") -> Iterator[str]:
    yield path
    for key, value in values.items():
        free = path.endswith(("env.", "annotations."))
        if isinstance(value, dict) and not free and key not in ("env", "annotations"):
            yield from objects(value, f"{path}{key}.")


@pytest.fixture(scope="module")
def misspelt() -> str:
    """Return Helm's error for an unknown value in each object. It names all of them."""
    with pytest.raises(RefusedError) as refused:
        text("production", *(f"{path}misspelt=1" for path in objects(DEFAULTS)))
    return str(refused.value)


@pytest.mark.parametrize("path", list(objects(DEFAULTS)))
def test_an_unknown_value_is_refused(misspelt: str, path: str) -> None:
    place = f"/{path.removesuffix('.').replace('.', '/')}" if path else ""
    assert f"- at '{place}': additional properties 'misspelt' not allowed" in misspelt


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("mongodb.existingSecret=", "A MongoDB is needed"),
        ("mongodb.enabled=true", "/mongodb"),
        ("image.tag=latest", "/image/tag"),
        ("auth.env.ATAJO_TOKEN_SECRET=x", "ATAJO_TOKEN_SECRET"),
        ("links.env.ATAJO_STORE=mongodb://user:word@host/", "ATAJO_STORE"),
        ("publicUrl=https://atajo.example/path", "/publicUrl"),
        ("gateway.replicas=0", "/gateway/replicas"),
        ("links.blocklists.configMap=both", "/links/blocklists"),
        ("trustedHops=1", "'not' failed"),
        ("trustedHops=11", "/trustedHops"),
        ("image.digests.app=latest", "/image/digests/app"),
    ],
)
def test_an_invalid_value_is_refused(setting: str, complaint: str) -> None:
    with pytest.raises(RefusedError, match=re.escape(complaint)):
        text("production", setting)
