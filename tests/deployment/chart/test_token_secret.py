"""The key that signs sessions."""

from __future__ import annotations

from tests.deployment.chart.render import (
    manifests,
    of_kind,
)


def test_a_signing_secret_is_generated_and_kept() -> None:
    made = [
        of_kind("Secret", manifests("kind", f"contact={turn}@example.com"))["token"]
        for turn in range(2)
    ]
    assert made[0]["data"] != made[1]["data"]
    assert len(made[0]["data"]["token-secret"]) >= 64
    assert made[0]["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert made[0]["immutable"] is True
