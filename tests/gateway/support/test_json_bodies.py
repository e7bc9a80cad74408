"""Bodies with so many keys that naming their faults would hold the event loop."""

from __future__ import annotations

import json

import pytest

from gateway.support.json_bodies import MAX_KEYS, has_too_many_keys

ROW = {"row": 1, "code": "abcd", "url": 'https://a.example/":' + ":" * 900}


@pytest.mark.parametrize("count", [MAX_KEYS, MAX_KEYS + 1])
def test_keys_of_all_objects_count(count: int) -> None:
    keys = {f"k{number}": [{"a": 0}] for number in range(count // 2)}
    body = json.dumps(keys if count % 2 == 0 else {**keys, "more": ':\\":"'}).encode()
    assert has_too_many_keys(body) == (count > MAX_KEYS)


def test_colons_in_strings_are_no_keys() -> None:
    assert not has_too_many_keys(json.dumps({"data": {"rows": [ROW] * 500}}).encode())


@pytest.mark.parametrize("part", [b'"', b'\\"', b"\\", b'"\\', b'":', b"a:"])
def test_a_body_is_read_in_linear_time(part: bytes) -> None:
    """Quadratic time would take minutes."""
    for start in (b"", b'"'):
        body = b":" * (MAX_KEYS + 1) + start + part * 250_000
        assert has_too_many_keys(body)
