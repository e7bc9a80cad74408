"""The selection of a store by its setting, and the modules it loads."""

from __future__ import annotations

import subprocess
import sys

import pytest

from services.auth.__main__ import STORE_FACTORIES
from services.shared import stores
from tests.support.processes import ROOT

PASSWORD = "s3cret-Camino"


@pytest.mark.parametrize(
    ("service", "package"),
    [
        *((service, "pymongo") for service in ("auth", "links", "analytics", "reconciler")),
        *(("auth", package) for package in ("joserfc", "webauthn")),
    ],
)
def test_a_service_does_not_import_what_it_may_never_need(service: str, package: str) -> None:
    """The driver of the other database, the client of a provider, and passkeys."""
    look = f"import sys, services.{service}.__main__; print('{package}' in sys.modules)"
    path = f"{ROOT}:{ROOT}/proto/gen"
    run = [sys.executable, "-c", look]
    done = subprocess.run(
        run, cwd=ROOT, env={"PYTHONPATH": path}, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("False\n", "")


@pytest.mark.parametrize(
    "setting",
    [
        "mysql://nowhere",
        "sqlite:///",
        "sqlite:////dev/null/store.db",
        "mongodb://host/?tls=true&tlsCAFile=/nowhere",
        f"mongodb://walker:{PASSWORD}",
        f"mongodb://walker:{PASSWORD}@/",
        f"mongodb://walker:{PASSWORD}@host:port/",
        f"mongodb://walker:a/{PASSWORD}@host/",
        f"mongodb://walker:{PASSWORD}@host/{'x' * 70}",
        "mongodb://",
        "mongodb+srv://host:1/",
        f"postgres://walker:{PASSWORD}@host/",
    ],
)
async def test_an_unusable_store_is_refused_with_one_line(setting: str) -> None:
    with pytest.raises(SystemExit) as refused:
        async with stores.open_stores(setting, "auth", STORE_FACTORIES):
            pass
    line = str(refused.value)
    assert "\n" not in line
    assert PASSWORD not in line
    assert line.startswith("ATAJO_STORE ") or setting.removeprefix("sqlite:///") in line


@pytest.mark.parametrize(
    "options",
    [
        *(f"readPreference={mode}" for mode in ("secondary", "primaryPreferred", "nearest")),
        "w=1&READPREFERENCE=secondaryPreferred",
        "readPreference=%73econdary",
        "readPreference=nearest&readPreferenceTags=dc:ny&maxStalenessSeconds=120",
        "readPreferenceTags=",
        "replicaSet=rs0;readPreferenceTags=dc:ny",
        "maxStalenessSeconds=120",
    ],
)
async def test_a_url_that_reads_from_secondaries_is_refused(options: str) -> None:
    url = f"mongodb://walker:{PASSWORD}@127.0.0.1:9/atajo?{options}"
    with pytest.raises(SystemExit) as refused:
        async with stores.open_stores(url, "auth", STORE_FACTORIES):
            pass
    line = str(refused.value)
    assert line.startswith("ATAJO_STORE must not have a readPreference")
    assert "\n" not in line
    assert PASSWORD not in line
