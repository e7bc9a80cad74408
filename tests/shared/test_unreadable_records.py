"""Pages of stored records some of which cannot be read."""

from __future__ import annotations

import pytest

from services.shared import unreadable_records
from services.shared.errors import Unavailable
from services.shared.unreadable_records import decode_page, decode_page_async


@pytest.mark.parametrize("damaged", [0, 1, 4, 5, 6, 99])
async def test_a_page_passes_over_a_limited_number_of_records(
    monkeypatch: pytest.MonkeyPatch, damaged: int
) -> None:
    monkeypatch.setattr(unreadable_records, "MAX_UNREADABLE", 5)
    rows = ["damaged"] * damaged + ["1", "2", "3"]
    sizes: list[int] = []

    def read(wanted: int) -> list[str]:
        sizes.append(wanted)
        return rows[:wanted]

    async def read_async(wanted: int) -> list[str]:
        return read(wanted)

    async def pages() -> list[list[int]]:
        page = decode_page("test", read, 2, int, str)
        return [page, await decode_page_async("test", read_async, 2, int, str)]

    if damaged <= 5:
        assert await pages() == [[1, 2], [1, 2]]
    else:
        with pytest.raises(Unavailable):
            decode_page("test", read, 2, int, str)
        with pytest.raises(Unavailable):
            await decode_page_async("test", read_async, 2, int, str)
    assert max(sizes) <= 7
