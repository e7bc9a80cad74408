"""Values that the chart refuses, and the schema that refuses them."""

from __future__ import annotations

import json
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

SCHEMA = json.loads((CHART / "values.schema.json").read_text())
DEFAULTS = yaml.safe_load((CHART / "values.yaml").read_text())


FREE = {"annotations", "commonAnnotations", "commonLabels", "env", "labels", "nodeSelector"}
"""Objects whose keys the chart does not know."""


def objects(values: dict[str, Any], path: str = "") -> Iterator[str]:
    yield path
    for key, value in values.items():
        if isinstance(value, dict) and key not in FREE:
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
        ("domains[0]=go.example", "/domains/0"),
        ("gateway.replicas=0", "/gateway/replicas"),
        ("links.blocklists.configMap=both", "/links/blocklists"),
        ("trustedHops=1", "'not' failed"),
        ("trustedHops=11", "/trustedHops"),
        ("image.digests.app=latest", "/image/digests/app"),
        ("pod.labels.app\\.kubernetes\\.io/component=admin", "app.kubernetes.io/component"),
        ("commonLabels.app\\.kubernetes\\.io/part-of=other", "app.kubernetes.io/part-of"),
        ("web.pod.labels.team=not a label", "/web/pod/labels/team"),
        ("auth.pod.nodeSelector.number=1", "/auth/pod/nodeSelector/number"),
        ("pod.tolerations[0].effect=Never", "/pod/tolerations/0/effect"),
        ("pod.affinity.other=x", "/pod/affinity"),
        ("pod.topologySpreadConstraints[0].topologyKey=zone", "/pod/topologySpreadConstraints/0"),
        ("pod.serviceAccount.automount=true", "/pod/serviceAccount"),
        ("pod.extraEnvFrom[0].value=x", "/pod/extraEnvFrom/0"),
        ("pod.extraVolumeMounts[0].name=x", "/pod/extraVolumeMounts/0"),
        ("extraObjects[0].kind=Secret", "/extraObjects/0"),
    ],
)
def test_an_invalid_value_is_refused(setting: str, complaint: str) -> None:
    with pytest.raises(RefusedError, match=re.escape(complaint)):
        text("production", setting)


def schemas(node: Any) -> Iterator[dict[str, Any]]:
    """Yield every schema within a schema."""
    if isinstance(node, dict):
        yield node
        for key, value in node.items():
            # Defaults are no schemas, and what follows `not` and `if` only tells values apart.
            if key not in ("default", "not", "if", "then"):
                yield from schemas(value)
    elif isinstance(node, list):
        for value in node:
            yield from schemas(value)


def test_an_object_refuses_unknown_keys_or_says_what_they_hold() -> None:
    """Kubernetes checks the objects that are passed on as they are."""
    unknown = {"type": "object"}
    for schema in schemas(SCHEMA):
        if isinstance(schema.get("properties"), dict) and "type" in schema:
            assert schema["additionalProperties"] is False, schema
        elif schema.get("type") == "object" and "required" not in schema:
            assert schema == unknown or "additionalProperties" in schema, schema


def test_no_constraint_stands_beside_a_reference() -> None:
    """JSON Schema draft 7 ignores it there."""
    for schema in schemas(SCHEMA):
        if "$ref" in schema:
            assert schema.keys() <= {"$ref", "default", "description"}, schema
