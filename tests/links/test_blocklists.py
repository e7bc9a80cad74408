"""The blocklist folder with real files and the reader process."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from services.links.domain.block import BlockReason
from services.links.domain.target import MAX_LABELS, host_keys
from services.links.domain.url import UrlPolicy, UrlRefused
from services.links.storage.blocklists import reader
from services.links.storage.blocklists.folder import BlocklistFolder
from services.shared.errors import Unavailable
from tests.support.processes import ROOT, TIMEOUT_SECONDS
from tests.support.procfs import children_of, read

FILE = json.loads((ROOT / "tests/links/blocklist_tricks.json").read_text(encoding="utf-8"))
HTML = "<html>\n<head><title>502 Bad Gateway</title></head>\n<body>\nnginx\n</body>\n</html>\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lists").mkdir()
    return tmp_path / "lists"


def write(folder: Path, name: str, text: str | bytes) -> None:
    """Replace a list atomically."""
    beside = folder / f".{name}"
    beside.write_bytes(text.encode() if isinstance(text, str) else text)
    beside.rename(folder / name)


def refused(blocklist: BlocklistFolder, url: str) -> tuple[BlockReason, str, int] | None:
    """Return class, list and line of the entry that refuses a URL."""
    try:
        UrlPolicy("https://atajo.example", blocklist).normalize(url)
    except UrlRefused as error:
        return error.match.reason, error.match.list, error.match.line
    return None


def metric(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(name, labels)


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not condition():  # noqa: ASYNC110 - No event tells.
            await asyncio.sleep(0)


async def opened(folder: Path) -> BlocklistFolder:
    blocklist = BlocklistFolder(folder)
    await blocklist.refresh()
    return blocklist


@pytest.fixture(scope="module")
def tricks(tmp_path_factory: pytest.TempPathFactory) -> BlocklistFolder:
    folder = tmp_path_factory.mktemp("lists")
    for name, lines in FILE["lists"].items():
        write(folder, name, "".join(f"{line}\n" for line in lines))
    return asyncio.run(opened(folder))


TRICKS = [
    pytest.param(url, case, id=f"{case['name']}: {url!a}")
    for case in FILE["refused"]
    for url in case["urls"]
]


@pytest.mark.parametrize(("url", "case"), TRICKS)
def test_every_spelling_of_a_listed_url_is_refused(
    tricks: BlocklistFolder, url: str, case: dict[str, Any]
) -> None:
    reason = BlockReason(FILE["classes"][case["list"]])
    assert refused(tricks, url) == (reason, case["list"], case["line"])


@pytest.mark.parametrize("url", FILE["taken"], ids=ascii)
def test_similar_urls_are_accepted(tricks: BlocklistFolder, url: str) -> None:
    assert refused(tricks, url) is None


async def test_no_url_is_accepted_before_the_lists_are_loaded(folder: Path) -> None:
    write(folder, "spam", "listed.example\n")
    blocklist = BlocklistFolder(folder)
    with pytest.raises(Unavailable) as unread:
        refused(blocklist, "https://innocent.example/")
    assert unread.value.reason == "BLOCKLISTS_UNREAD"

    async with blocklist.running():
        await until(lambda: metric("atajo_blocklist_broken", list="spam") == 0)
    await blocklist.refresh()
    assert refused(blocklist, "https://listed.example/") == (BlockReason.SPAM, "spam", 1)
    assert refused(blocklist, "https://innocent.example/") is None


async def test_lists_are_regular_files_that_are_not_hidden(folder: Path, tmp_path: Path) -> None:
    (folder / ".hidden").write_text("hidden.example\n")
    (folder / "folder").mkdir()
    (folder / "folder" / "inner").write_text("inner.example\n")
    (folder / "nowhere").symlink_to(tmp_path / "nowhere")
    (tmp_path / "mounted").write_text("mounted.example\n")
    (folder / "illegal").symlink_to(tmp_path / "mounted")  # As a ConfigMap is mounted.
    blocklist = await opened(folder)
    assert refused(blocklist, "mounted.example") == (BlockReason.ILLEGAL, "illegal", 1)
    assert refused(blocklist, "hidden.example") is None
    assert refused(blocklist, "inner.example") is None
    assert metric("atajo_blocklists") == 1


async def test_a_file_name_may_be_invalid_utf8(folder: Path) -> None:
    (folder / os.fsdecode(b"spam-\xff")).write_text("one.example\n")
    blocklist = await opened(folder)
    assert refused(blocklist, "one.example") == (BlockReason.SPAM, "spam-?", 1)
    assert metric("atajo_blocklist_entries", list="spam-?") == 1
    await blocklist.refresh()
    (folder / os.fsdecode(b"spam-\xff")).unlink()
    await blocklist.refresh()
    assert refused(blocklist, "one.example") is None


async def test_added_changed_and_deleted_lists_take_effect(folder: Path) -> None:
    blocklist = await opened(folder)
    assert refused(blocklist, "one.example") is None
    write(folder, "spam", "one.example\n")
    await blocklist.refresh()
    assert refused(blocklist, "one.example")
    write(folder, "spam", "# now another\ntwo.example\n")
    await blocklist.refresh()
    assert refused(blocklist, "one.example") is None
    assert refused(blocklist, "two.example") == (BlockReason.SPAM, "spam", 2)
    (folder / "spam").unlink()
    await blocklist.refresh()
    assert refused(blocklist, "two.example") is None
    assert metric("atajo_blocklist_entries", list="spam") is None


async def test_an_unchanged_file_is_read_once(folder: Path) -> None:
    write(folder, "spam", "one.example\n")
    blocklist = await opened(folder)
    with capture_logs() as logged:
        await blocklist.refresh()
    assert logged == []


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("two.example\n".encode("utf-16"), "NOT_UTF8"),
        (b"two.example\ncaf\xe9.example\n", "NOT_UTF8"),
        (HTML.encode(), "UNREADABLE_LINES"),
        (b"two.example\n||ads.example^\n||more.example^\n", "UNREADABLE_LINES"),
        (b"\x00" * 9000, "UNREADABLE_LINES"),
        (b"two.example\n" + 2 * (b"a" * 100_000 + b"\n"), "UNREADABLE_LINES"),
    ],
    ids=["UTF-16", "Latin-1", "a page", "another format", "no text", "endless lines"],
)
async def test_a_broken_file_keeps_the_previous_version_and_is_logged(
    folder: Path, broken: bytes, reason: str
) -> None:
    write(folder, "phishing", "one.example\n")
    blocklist = await opened(folder)
    write(folder, "phishing", broken)
    with capture_logs() as logged:
        await blocklist.refresh()
        await blocklist.refresh()
    (line,) = logged
    assert (line["event"], line["list"], line["reason"]) == ("blocklist_broken", "phishing", reason)
    assert line["in_use"] == 1
    assert metric("atajo_blocklist_broken", list="phishing") == 1
    assert refused(blocklist, "one.example")
    assert refused(blocklist, "two.example") is None

    write(folder, "phishing", "two.example\n")
    await blocklist.refresh()
    assert metric("atajo_blocklist_broken", list="phishing") == 0
    assert refused(blocklist, "one.example") is None
    assert refused(blocklist, "two.example")


async def test_the_fingerprint_is_known_once_every_list_is_loaded(folder: Path) -> None:
    write(folder, "spam", "one.example\ntwo.example\n")
    blocklist = await opened(folder)
    first = blocklist.fingerprint
    assert first is not None
    write(folder, "spam", "# the same in another order\ntwo.example\none.example\n")
    await blocklist.refresh()
    assert blocklist.fingerprint == first
    write(folder, "other", HTML)
    await blocklist.refresh()
    assert blocklist.fingerprint is None
    write(folder, "other", "three.example\n")
    await blocklist.refresh()
    assert blocklist.fingerprint not in (None, first)
    write(folder, "other", HTML)  # Its previous version stays known.
    other = blocklist.fingerprint
    await blocklist.refresh()
    assert blocklist.fingerprint == other


async def test_half_of_the_lines_may_be_unreadable(folder: Path) -> None:
    write(folder, "spam", "\n# a comment\none.example\n<html>\n\n")
    blocklist = await opened(folder)
    assert refused(blocklist, "one.example")


async def test_byte_order_marks_and_other_line_ends_are_accepted(folder: Path) -> None:
    write(folder, "spam", b"\xef\xbb\xbfone.example\r\ntwo.example\r\nthree.example")
    blocklist = await opened(folder)
    for line, name in enumerate(("one", "two", "three"), 1):
        assert refused(blocklist, f"{name}.example") == (BlockReason.SPAM, "spam", line)


async def test_an_overlong_line_counts_as_one_line(folder: Path) -> None:
    write(folder, "spam", b"one.example\n" + b"a" * 10_000 + b"\ntwo.example\n")
    blocklist = await opened(folder)
    assert refused(blocklist, "two.example") == (BlockReason.SPAM, "spam", 3)


async def test_lists_stay_in_use_while_the_folder_is_unavailable(
    folder: Path, tmp_path: Path
) -> None:
    write(folder, "spam", "one.example\n")
    blocklist = await opened(folder)
    looked = metric("atajo_blocklists_look_timestamp_seconds")
    away = tmp_path / "away"
    os.rename(folder, away)
    with capture_logs() as logged:
        await blocklist.refresh()
    assert [line["event"] for line in logged] == ["blocklists_not_looked_through"]
    assert metric("atajo_blocklists_look_timestamp_seconds") == looked
    assert refused(blocklist, "one.example")
    os.rename(away, folder)
    await blocklist.refresh()
    assert metric("atajo_blocklists_look_timestamp_seconds") != looked


async def test_every_url_is_accepted_if_the_folder_is_missing(tmp_path: Path) -> None:
    blocklist = await opened(tmp_path / "nowhere")
    assert refused(blocklist, "one.example") is None


async def test_a_killed_reader_is_retried(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "spam", "one.example\n")
    with monkeypatch.context() as patched, capture_logs() as logged:
        patched.setattr(reader, "__name__", "no_such_module")
        blocklist = await opened(folder)
    assert [line["event"] for line in logged] == ["blocklist_broken"]
    assert metric("atajo_blocklist_broken", list="spam") == 1
    await blocklist.refresh()
    assert metric("atajo_blocklist_broken", list="spam") == 0
    assert refused(blocklist, "one.example")


async def test_an_unreadable_file_is_retried(folder: Path) -> None:
    (folder / "spam").symlink_to("/proc/self/mem")  # Regular, but unreadable.
    with capture_logs() as logged:
        blocklist = await opened(folder)
    assert [line["reason"] for line in logged] == ["NOT_READ"]
    write(folder, "spam", "one.example\n")
    await blocklist.refresh()
    assert refused(blocklist, "one.example")


async def test_a_list_loads_without_blocking_the_event_loop(folder: Path) -> None:
    write(folder, "spam", "one.example\n")
    blocklist = await opened(folder)
    write(folder, "spam", "".join(f"host{n}.example\n" for n in range(20_000)))
    looking = asyncio.create_task(blocklist.refresh())
    turns = 0
    while not looking.done():
        # Atomically: either the previous list or the new one.
        assert bool(refused(blocklist, "one.example")) != bool(
            refused(blocklist, "host19999.example")
        )
        turns += 1
        await asyncio.sleep(0)
    await looking
    assert turns > 1
    assert refused(blocklist, "host0.example") == (BlockReason.SPAM, "spam", 1)
    assert refused(blocklist, "host19999.example") == (BlockReason.SPAM, "spam", 20_000)


async def test_a_host_with_more_labels_than_dns_permits_is_refused_by_its_parents(
    folder: Path,
) -> None:
    write(folder, "spam", "b.evil.example\n")
    blocklist = await opened(folder)
    host = f"{'a.' * 480}b.evil.example"

    assert refused(blocklist, host)
    assert len(host_keys(host)) == MAX_LABELS - 1


async def test_stopping_ends_the_reader_process(folder: Path) -> None:
    write(folder, "spam", "".join(f"host{n}.example\n" for n in range(200_000)))
    blocklist = BlocklistFolder(folder)
    async with blocklist.running():
        await until(lambda: bool(_readers()))
    assert not _readers()


def _readers() -> list[int]:
    """Return the running reader processes that this process has started."""
    return [
        pid
        for pid in children_of(os.getpid())
        if "blocklists.reader" in read(Path(f"/proc/{pid}/cmdline"))
    ]
