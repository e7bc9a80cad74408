"""Device, browser and system of real and invented User-Agents."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from gateway.support.user_agents import BROWSERS, SYSTEMS, Agent, parse_user_agent
from gateway.visits.enrichment.classification import kind_of

REAL = json.loads(
    Path(__file__).with_name("user_agents").joinpath("agents.json").read_text(encoding="utf-8")
)
"""Device, browser and system by User-Agent, None if any value is fine."""


@pytest.mark.parametrize("user_agent", REAL)
def test_real_browsers_are_recognized(user_agent: str) -> None:
    assert kind_of(user_agent.encode()) == "person"
    told = parse_user_agent(user_agent.encode())
    for got, wanted in zip(told, REAL[user_agent], strict=True):
        assert wanted in (None, got), told


def test_no_text_of_a_client_becomes_a_name() -> None:
    chance = random.Random(16)
    words = [word for text in REAL for word in text.replace("(", " ( ").split()]
    for _ in range(5_000):
        made = ["Mozilla/5.0"]
        for _ in range(chance.randrange(20)):
            word = chance.choice(words)
            at = chance.randrange(len(word) + 1)
            made.append(chance.choice([word, word[:at] + "secret", "secret/1", f"secret{word}"]))
        told = parse_user_agent(" ".join(made).encode())
        assert told.device in ("desktop", "phone", "tablet", "other")
        assert told.browser in {"", *BROWSERS}
        assert told.system in {"", *SYSTEMS}
    assert "secret" not in "".join([*BROWSERS, *SYSTEMS])


def test_only_the_beginning_of_a_long_user_agent_is_read() -> None:
    start = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    assert parse_user_agent(start.encode() + b" " * 600 + b"Firefox/132.0").browser == ""
    assert parse_user_agent(b"Mozilla/5.0 " + bytes(range(128, 256)) * 300) == Agent(
        "other", "", ""
    )
