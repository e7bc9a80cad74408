"""Independent decoders read every code of the page, unless it has a warning.

The seed is printed; `ATAJO_QR_SEED=7 make test` uses another one.
"""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import expect

from tests.system.qr.cases import Case, generate
from tests.system.qr.readers import OTHERS, ZBAR, Readers, framed
from tests.system.qr.studio import SCANS, WARNINGS, Studio, drawn

SEED = int(os.environ.get("ATAJO_QR_SEED", "20260711"))


@pytest.mark.timeout(600)
def test_ten_codes(studio: Studio, readers: Readers) -> None:
    check(studio, readers, generate(SEED, 10))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_three_hundred_codes(studio: Studio, readers: Readers) -> None:
    check(studio, readers, generate(SEED + 1, 300))


def check(studio: Studio, readers: Readers, cases: list[Case]) -> None:
    """Create every case and report all faults together."""
    faults: list[str] = []
    tally = dict.fromkeys(OTHERS, 0)
    warned = 0
    for case in cases:
        text = make(studio, case)
        verdict = studio.verdict()
        picture = studio.download().picture()
        assert picture.shape == (400, 400, 3)
        drawing = studio.download("SVG") if case.number % 4 == 0 else None
        if verdict in WARNINGS:
            warned += 1
            if case.plain:
                faults.append(f"{case}: plain, and carries the warning {verdict!r}")
            continue
        if drawing and readers.read("ZXing", framed(drawn(studio.page, drawing.content))) != text:
            faults.append(f"{case}: its SVG is not read by ZXing")
        # Tested on black only with a quiet zone.
        sheet = framed(picture, 0 if case.quiet_zone else 255)
        if readers.read(ZBAR, sheet) not in (None, text):
            faults.append(f"{case}: ZBar reads another text")
        by = readers.two_who_read(sheet, text)
        for reader in by:
            tally[reader] += 1
        # The second decoder of dense codes varies.
        if verdict not in SCANS or "ZXing" not in by or (case.plain and len(by) < 2):
            faults.append(f"{case}: {verdict}, read by {by}")
    print(f"seed {SEED}: {len(cases)} codes, {warned} with warnings, others read first by {tally}")  # noqa: T201
    assert not faults, "\n".join([f"seed {SEED}", *faults])
    assert warned < len(cases) / 3


def make(studio: Studio, case: Case) -> str:
    """Create a code and return its expected text."""
    studio.choose(case.logo)
    studio.colours(case.foreground, case.background)
    switch = studio.page.get_by_role("switch")
    switch.set_checked(case.quiet_zone)
    text = studio.write(case.text)
    expect(studio.code).to_be_visible()
    return text
