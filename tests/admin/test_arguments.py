"""What the operator's command takes from its command line, and from make."""

from __future__ import annotations

import os
import subprocess
from argparse import Namespace

import pytest

from services.admin.arguments import Program, parse
from services.shared.subjects import Code, Pattern
from tests.support.processes import ROOT

CODE = "-abc"
VALUES = ("", "two  words ", "-abc", "--x", "--json", "--help", "-h", "--", "=", "$HOME `id` \"'\\")
"""Values that a shell, make or argparse could take for something else."""


def parsed(*arguments: str) -> Namespace:
    return parse(
        Program("atajo", "Does it."),
        arguments,
        lambda: ["https://atajo.example", "https://go.example"],
    )


def made(target: str, **values: str) -> Namespace:
    """Return what the command takes from the arguments that a make target gives it."""
    return parsed(*passed(target, **values))


def passed(target: str, **values: str) -> list[str]:
    """Return the arguments that a make target gives to the command."""
    assigned = [f"{name}={value.replace('$', '$$')}" for name, value in values.items()]
    written = subprocess.run(
        # printf takes the place of Python, whose packages are not set up.
        ["make", "--old-file=.venv/.run", "PY=printf '%s\\0'", target, *assigned],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    option, module, *arguments = written.removesuffix("\0").split("\0")
    assert (option, module) == ("-m", "deploy.local")
    return arguments


@pytest.mark.parametrize("value", VALUES)
def test_make_passes_a_value_as_it_is(value: str) -> None:
    blocked = made("block", WHAT=CODE, CLASS="spam", COMMENT=value)
    assert (blocked.what, blocked.reason, blocked.comment) == (Code(CODE), "spam", value)
    assert not blocked.json


def test_make_passes_the_arguments_of_every_command() -> None:
    assert made("reports").after == ""
    assert made("reports", AFTER=f"1.{CODE}").after == f"1.{CODE}"
    unblocked = made("unblock", WHAT="evil.example", COMMENT="--x")
    assert (unblocked.what, unblocked.comment) == (Pattern("evil.example"), "--x")
    dismissed = made("dismiss", CODE=CODE)
    assert (dismissed.link, dismissed.comment) == (Code(CODE), "")
    assert made("why", CODE="--json").what == Code("--json")
    assert made("why", WHAT="evil.example").what == Pattern("evil.example")
    found = made("decisions", FIND="--x")
    assert (found.page, found.text) == (1, "--x")
    assert made("decisions", PAGE="2").page == 2
    assert made("remove-link", CODE="--help").code == "--help"
    assert made("remove-account", EMAIL="-a@example.com").email == "-a@example.com"
    assert made("reset-link", EMAIL="a@example.com").email == "a@example.com"
    assert made("invite").email == ""
    assert made("invite", EMAIL="a@example.com").email == "a@example.com"
    role = made("role", EMAIL="a@example.com", ROLE="administrator")
    assert (role.email, role.role) == ("a@example.com", "administrator")
    assert passed("backup", TO="/a b") == ["backup", "--", "/a b"]
    assert passed("restore", FROM="/a b") == ["restore", "--", "/a b"]


@pytest.mark.parametrize("value", VALUES)
def test_every_argument_after_two_dashes_is_a_value(value: str) -> None:
    blocked = parsed("--json", "block", "--", CODE, "spam", value)
    assert (blocked.what, blocked.comment, blocked.json) == (Code(CODE), value, True)


def test_a_code_or_comment_may_begin_with_a_dash() -> None:
    assert parsed("why", CODE).what == Code(CODE)
    assert parsed("unblock", CODE, "--x").comment == "--x"


@pytest.mark.parametrize("value", ["--json", "--help", "--what", "-h", "--"])
def test_a_value_that_looks_like_an_option_is_a_value(value: str) -> None:
    blocked = parsed("block", CODE, "spam", value)
    assert (blocked.what, blocked.comment, blocked.json) == (Code(CODE), value, False)


@pytest.mark.parametrize(
    ("arguments", "code", "comment"),
    [
        (("--help", "appeal"), "--help", "appeal"),
        (("--json", "appeal"), "--json", "appeal"),
        (("--json",), "--json", ""),
        (("--json", "--help"), "--json", "--help"),
        (("--", "--help"), "--help", ""),
        (("--", "--json", "--"), "--json", "--"),
        ((CODE, "--"), CODE, "--"),
    ],
)
def test_the_code_of_a_link_may_be_an_option(
    arguments: tuple[str, ...], code: str, comment: str
) -> None:
    for option in ((), ("--json",)):
        unblocked = parsed(*option, "unblock", *arguments)
        assert (unblocked.what, unblocked.comment) == (Code(code), comment)
        assert unblocked.json == bool(option)


@pytest.mark.parametrize(
    "arguments",
    [("-h",), ("--help",), ("--json", "-h"), ("why", "-h"), ("--json", "why", "--help")],
)
def test_help_is_given_before_a_command_or_alone_after_it(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parsed(*arguments)
    assert (ended.value.code, capsys.readouterr().out[:6]) == (0, "Usage:")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--jsn", "reports"), "unknown option: --jsn"),
        (("--jsn", "why", "--help"), "unknown option: --jsn"),
        (("--json=1", "reports"), "unknown option: --json=1"),
        (("--", "reports"), "unknown option: --"),
        (("--json",), "the following arguments are required: COMMAND"),
        (("--json", "report"), "argument COMMAND: invalid choice: 'report' (choose"),
        (("", "why"), "argument COMMAND: invalid choice: '' (choose"),
        (("block", "--json", CODE, "spam"), "argument CLASS: invalid choice: '-abc' (choose"),
        (("block", CODE, "--", "spam"), "argument CLASS: invalid choice: '--' (choose"),
        (("why", "--", "--", CODE), "argument WHAT: neither a code"),
        (("why", CODE, "--json"), "too many arguments"),
        (("why", CODE, "--help"), "too many arguments"),
        (("remove-link", "--help", "-h"), "too many arguments"),
        (("remove-link", "--"), "the following arguments are required: CODE"),
    ],
)
def test_an_invalid_argument_is_named_as_it_was_given(
    arguments: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parsed(*arguments)
    assert ended.value.code == 2
    assert f"error: {reason}" in capsys.readouterr().err
