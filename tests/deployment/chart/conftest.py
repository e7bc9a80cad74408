"""Renders the chart with every value set."""

from __future__ import annotations

import pytest

from tests.deployment.chart.render import VALUES, Manifest, manifests


@pytest.fixture(params=VALUES)
def rendered(request: pytest.FixtureRequest) -> list[Manifest]:
    return manifests(request.param)
