"""Explanations as the operator reads them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from atajo.links.v1 import links_pb2 as pb
from services.admin import rendering
from services.admin.documents import parse_explanation

PHISHING, SPAM = pb.BLOCK_REASON_PHISHING, pb.BLOCK_REASON_SPAM
URL = "https://evil.example/a"


def at(second: int) -> Timestamp:
    timestamp = Timestamp()
    timestamp.FromDatetime(datetime(2026, 3, 1, 12, 30, second, tzinfo=UTC))
    return timestamp


def link(state: pb.LinkState.ValueType, **fields: object) -> pb.Link:
    return pb.Link(code="k7Qm2_xB", url=URL, created_at=at(0), state=state, **fields)  # type: ignore[arg-type]


ACTIVE = link(pb.LINK_STATE_ACTIVE)
REMOVED = link(pb.LINK_STATE_REMOVED)
LISTED = link(pb.LINK_STATE_BLOCKED, reason=PHISHING)
MATCH = pb.BlocklistMatch(
    url=URL, list="phishing.txt", line=12, key="evil.example", reason=PHISHING
)
HEAD = "  destination https://evil.example/a"
MATCHES = f"  the list phishing.txt, line 12: evil.example (phishing) matches {URL}"


@pytest.mark.parametrize(
    ("reply", "lines"),
    [
        (
            pb.ExplainBlockResponse(link=LISTED, blocklist="phishing.txt", matches=[MATCH]),
            ["  blocked by the list phishing.txt", MATCHES],
        ),
        (
            pb.ExplainBlockResponse(link=LISTED, blocklist="phishing.txt"),
            [
                "  blocked by the list phishing.txt",
                "  no loaded list matches it now: it is unblocked within minutes",
            ],
        ),
        (
            pb.ExplainBlockResponse(
                link=LISTED,
                decision=pb.Decision(
                    kind=pb.DECISION_KIND_BLOCK,
                    code="k7Qm2_xB",
                    reason=PHISHING,
                    cause="a\x1b[2J",
                    at=at(1),
                ),
            ),
            [
                "  blocked by the operator",
                "  last decision: 2026-03-01 12:30:01 UTC  block  k7Qm2_xB  phishing  a\\x1b[2J",
            ],
        ),
        (
            pb.ExplainBlockResponse(link=ACTIVE, matches=[MATCH]),
            ["  a list matches it: it is blocked within minutes", MATCHES],
        ),
        (
            pb.ExplainBlockResponse(link=REMOVED, removed_at=at(2)),
            ["  removed by its owner at 2026-03-01 12:30:02 UTC"],
        ),
        (
            pb.ExplainBlockResponse(link=REMOVED, gone=True),
            ["  removed for good: its owner removed it 30 days ago or more, or closed the account"],
        ),
        (
            pb.ExplainBlockResponse(link=link(pb.LINK_STATE_EXPIRED, expires_at=at(3))),
            ["  expired at 2026-03-01 12:30:03 UTC"],
        ),
    ],
)
def test_an_explanation_states_the_cause(reply: pb.ExplainBlockResponse, lines: list[str]) -> None:
    rendered = rendering.explanation(parse_explanation(reply, "k7Qm2_xB")).split("\n")
    assert rendered[1:] == [HEAD, *lines]


def test_an_explanation_of_a_url_states_list_and_line() -> None:
    reply = pb.ExplainBlockResponse(matches=[MATCH])
    assert rendering.explanation(parse_explanation(reply, "evil.example\x1b")) == (
        "evil.example\\x1b  blocked\n  the list phishing.txt, line 12: evil.example (phishing)"
    )
