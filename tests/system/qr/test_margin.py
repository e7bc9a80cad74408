"""The verdict and its margin: its texts and fixes on the page, and its quality."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
import pytest
from playwright.sync_api import expect

from tests.system.qr.cameras import CAMERAS
from tests.system.qr.cases import image_file
from tests.system.qr.margin import (
    SEED,
    STYLES,
    UNREAD,
    WELL,
    Bench,
    Row,
    archived,
    has_lost,
    lost_cases,
)
from tests.system.qr.pictures import LOGO, PLAIN, logo_picture
from tests.system.qr.random_styles import random_design
from tests.system.qr.readers import SCANNERS
from tests.system.qr.studio import Studio

LINK = "https://atajo.example/k7Qm2_xB"


def test_a_plain_code_scans_well_from_as_far_as_its_print_is_wide(studio: Studio) -> None:
    studio.write(LINK)
    assert studio.verdict() == "well"
    expect(studio.line).to_contain_text("Scans well on white")
    expect(studio.line).to_contain_text("Printed 50 mm wide, it scans from up to 52 cm away.")
    studio.more()
    width = studio.page.get_by_label("Print width (mm)")
    width.fill("200")
    expect(studio.line).to_contain_text("Printed 200 mm wide, it scans from up to 2.1 m away.")
    width.fill("as wide as a door")
    expect(studio.line).not_to_contain_text("Printed")
    # Announced to screen readers once it is final.
    expect(studio.page.get_by_role("status").filter(has_text="Scans well")).to_be_attached()


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    """Return the bench of the table."""
    bench = Bench()
    yield bench
    bench.close()


ROWS = archived()


def of_verdict(*verdicts: str) -> Iterator[tuple[int, Row]]:
    """Styles of the table."""
    return ((at, row) for at, row in enumerate(ROWS) if row.verdict in verdicts)


def sample(*verdicts: str) -> list[int]:
    """The first style of each verdict, and one more 'well'."""
    firsts = [next((number for number, _ in of_verdict(verdict)), None) for verdict in verdicts]
    well = [number for number, _ in of_verdict(WELL)][1:2]
    return [*well, *(number for number in firsts if number is not None)]


RULES = ("modules", "level", "eyes", "colors")


@pytest.mark.parametrize("number", sample(WELL, UNREAD, "dense", "worn", "askew", *RULES))
def test_the_archive_matches_a_new_measurement(bench: Bench, number: int) -> None:
    row = bench.row(number)
    assert row.verdict == ROWS[number].verdict
    assert bool(row.read) is (row.verdict == WELL)
    assert not row.read or not has_lost(row)


@pytest.mark.parametrize("number", sample(WELL, UNREAD, "worn", "colors"))
def test_the_page_gives_the_verdict_of_the_table(studio: Studio, number: int) -> None:
    """The page's canvas and the measurement's drawing differ in anti-aliasing."""
    design = random_design(SEED, number)
    studio.keep({"ours": {**PLAIN, **design.style}})
    studio.take("ours")
    if design.logo:
        kind, width, height = design.logo
        # The page fits a picture into the logo's square; the table also has smaller ones.
        if max(width, height) < LOGO:
            pytest.skip("a logo smaller than the page makes it")
        picture = cv2.resize(logo_picture(kind), (5 * width, 5 * height))
        studio.choose(image_file("logo", "png", picture.astype(np.uint8)))
    studio.write(design.text)
    expected = ROWS[number].verdict
    wanted = expected if expected in (WELL, UNREAD) else "care"
    assert studio.verdict() == wanted


def test_no_style_called_well_is_lost() -> None:
    """One percent of a style's 36 cases is less than one."""
    well = [row for _, row in of_verdict(WELL)]
    assert len(ROWS) == STYLES
    assert len(well) > STYLES / 20
    assert [number for number, row in of_verdict(WELL) if has_lost(row)] == []


@pytest.mark.parametrize("scanner", SCANNERS)
def test_each_decoder_reads_nearly_all_in_the_first_frame(scanner: str) -> None:
    well = [row for _, row in of_verdict(WELL)]
    lost = lost_cases(well, SCANNERS.index(scanner), first=True)
    assert lost <= len(well) * len(CAMERAS) / 100
