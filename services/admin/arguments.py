"""Parses the operator's command line: one sub-command for each task, with its own `--help`.

A program may have further commands beside those of the operator, as `atajo` does (deploy/local).

The owner of a link chooses its code, which may be `--json` or `--help`. Options therefore stand
before the sub-command, and every argument after it is a value; only `--help` alone asks for help.
"""

from __future__ import annotations

import argparse
import itertools
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from services.admin import commands
from services.admin.clients import CLASSES, PAGE_SIZE, ROLES
from services.shared.subjects import Code, Pattern, parse_subject

INVALID_ARGUMENTS = 2
"""Exit code; argparse has the same."""
_HELP = ("-h", "--help")
_MARK = "="
"""In front of a value while argparse reads it, which takes `-abc` for an option and drops `--`."""
_MAX_PAGE_DIGITS = 5

_NOTES = """\
WHAT is a link, a host with its subdomains, or a path on a host: evil.example, evil.example/shop.
A link is named by its code or its short URL. A code has neither a dot nor a colon, so it cannot be
confused with a host.

Every argument after COMMAND is a value, even --json, but --help alone prints the help of COMMAND.
A link whose code is --help: unblock -- --help

exit status: 0 done; 1 failed, repeat the command; 2 invalid arguments, or the last administrator;
3 no such link, account, block or report"""
_WHAT_HELP = "a link by code or short URL, a host with its subdomains, or a path on a host"
_CODE_HELP = "its code or its scan code"
_EMAIL_HELP = "the account's e-mail address"
_COMMENT_HELP = "stored with the decision: say why, for a reader in a year"


@dataclass(frozen=True)
class FurtherCommand:
    """A command that is not the operator's."""

    name: str
    summary: str
    """Its line in the help of the program."""
    description: str
    example: str
    perform: Callable[[argparse.Namespace], commands.Outcome | None]
    """Returns what to print. Raises SystemExit with one line if it fails."""
    add_arguments: Callable[[ArgumentParser], None] = lambda _: None
    """Adds its arguments. Their types receive a text that `parse_text` takes."""


@dataclass(frozen=True)
class Program:
    """A program with the operator's commands."""

    name: str
    """How it was called, for its usage lines."""
    description: str
    further: Sequence[FurtherCommand] = ()
    """Commands that its help lists before those of the operator."""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Begins the usage line with a capital, as every other line of the command."""

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[object],
        prefix: str | None = "Usage: ",
    ) -> None:
        super().add_usage(usage, actions, groups, prefix)  # type: ignore[arg-type]


def parse(
    program: Program, arguments: Sequence[str], origins: Callable[[], Sequence[str]]
) -> argparse.Namespace:
    """Return the arguments of a command, and whether its answer is to be `json`.

    Beside them, `run` is the operator's command, or else `perform` is the further command.
    `origins` returns those of the product, that of the public URL first, none if unknown. It is
    called for a link, host or URL.
    Raises SystemExit: with status 2 and the usage line on stderr for invalid arguments, with 0
    after printing the help that was asked for.
    """
    parser = _create_parser(program, origins)
    if not arguments:
        parser.exit(INVALID_ARGUMENTS, parser.format_help())
    options = list(itertools.takewhile(lambda argument: argument.startswith("-"), arguments))
    if unknown := [option for option in options if option not in ("--json", *_HELP)]:
        parser.error(f"unknown option: {unknown[0]}")
    command, values = arguments[len(options) :][:1], list(arguments[len(options) + 1 :])
    if len(values) != 1 or values[0] not in _HELP:
        values = [_MARK + value for value in (values[1:] if values[:1] == ["--"] else values)]
    parsed, surplus = parser.parse_known_args([*options, *command, *values])
    if surplus:
        parsed.parser.error("too many arguments")
    return parsed


def _create_parser(program: Program, origins: Callable[[], Sequence[str]]) -> ArgumentParser:
    def parse_what(marked: str) -> Code | Pattern:
        subject = parse_subject(parse_text(marked), origins())
        if subject is None:
            raise ArgumentTypeError("neither a code or short URL of a link nor a host or path")
        return subject

    def parse_link(marked: str) -> Code:
        subject = parse_subject(parse_text(marked), origins())
        if not isinstance(subject, Code):
            raise ArgumentTypeError("neither a code nor a short URL of a link")
        return subject

    parser = ArgumentParser(
        prog=program.name,
        description=program.description,
        epilog=_NOTES,
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON document (docs/reference/operator.md)"
    )
    usage = f"{program.name} [--json]"
    parser.set_defaults(origin=lambda: next(iter(origins()), ""))
    subparsers = parser.add_subparsers(
        title="commands", prog=usage, metavar="COMMAND", dest="command", required=True
    )

    def add_parser(name: str, summary: str, description: str, example: str) -> ArgumentParser:
        command = subparsers.add_parser(
            name,
            help=summary,
            description=description,
            epilog=f"example: {program.name} {example}",
            formatter_class=_Formatter,
            allow_abbrev=False,
        )
        command.set_defaults(parser=command, run=None)
        return command

    def add(run: commands.Command, *texts: str) -> ArgumentParser:
        command = add_parser(*texts)
        command.set_defaults(run=run)
        return command

    for further in program.further:
        command = add_parser(further.name, further.summary, further.description, further.example)
        further.add_arguments(command)
        command.set_defaults(perform=further.perform)

    command = add(
        commands.show_reports,
        "reports",
        "pending reports, the most often reported links first",
        f"Lists up to {PAGE_SIZE} pending reports, the most often reported links first.",
        "reports",
    )
    _add_optional(command, "after", "where the next page starts, as the previous page says")

    command = add(
        commands.block,
        "block",
        "block a link, a host or a path",
        "Blocks a link, which then answers 451, or a host or path: no link can be created that\n"
        "leads there, and existing links answer 451. Decides on the reports of a link.",
        'block -- evil.example phishing "imitates a bank"',
    )
    command.add_argument("what", metavar="WHAT", type=parse_what, help=_WHAT_HELP)
    command.add_argument(
        "reason", metavar="CLASS", type=parse_text, choices=tuple(CLASSES), help=", ".join(CLASSES)
    )
    _add_optional(command, "comment", _COMMENT_HELP)

    command = add(
        commands.unblock,
        "unblock",
        "remove a block",
        "Removes a block, named as it was made. No list blocks an unblocked link again.",
        'unblock -- k7Qm2_xB "the owner removed the page"',
    )
    command.add_argument("what", metavar="WHAT", type=parse_what, help=_WHAT_HELP)
    _add_optional(command, "comment", _COMMENT_HELP)

    command = add(
        commands.dismiss,
        "dismiss",
        "dismiss the reports of a link",
        "Decides that the reports of a link are no reason to block it.",
        'dismiss -- k7Qm2_xB "a joke"',
    )
    command.add_argument("link", metavar="LINK", type=parse_link, help="its code or its short URL")
    _add_optional(command, "comment", _COMMENT_HELP)

    command = add(
        commands.explain,
        "why",
        "explain why a link, host or URL is blocked, or not",
        "Explains why a link, host or URL is blocked, or not: its owner, a decision, or the list\n"
        "with line and matching key.",
        "why -- https://evil.example/shop",
    )
    command.add_argument("what", metavar="WHAT", type=parse_what, help=f"{_WHAT_HELP}; or a URL")

    command = add(
        commands.show_decisions,
        "decisions",
        "blocks, unblocks, dismissals and reset links, newest first",
        f"Lists {PAGE_SIZE} decisions, newest first.",
        'decisions -- 1 "a bank"',
    )
    _add_optional(command, "page", "number of the page, from 1; empty for 1", _parse_page)
    _add_optional(
        command,
        "text",
        "only decisions that have it in what they are about, class, comment or administrator, "
        "ignoring case",
    )

    command = add(
        commands.remove_link,
        "remove-link",
        "remove a link for good",
        "Deletes a link and its counts permanently. Its code is never given out again.",
        "remove-link -- k7Qm2_xB",
    )
    command.add_argument("code", metavar="CODE", type=parse_required, help=_CODE_HELP)

    command = add(
        commands.remove_account,
        "remove-account",
        "remove an account and its links for good",
        "Deletes an account, its links and their counts permanently, and frees the e-mail address.",
        "remove-account -- someone@example.com",
    )
    command.add_argument("email", metavar="EMAIL", type=parse_required, help=_EMAIL_HELP)

    command = add(
        commands.create_reset_link,
        "reset-link",
        "a URL with which the owner of an account sets a new password",
        "Prints a URL with which the owner of an account sets a new password, once, within an\n"
        "hour. It replaces the previous one.",
        "reset-link -- someone@example.com",
    )
    command.add_argument("email", metavar="EMAIL", type=parse_required, help=_EMAIL_HELP)

    command = add(
        commands.invite,
        "invite",
        "a URL with which somebody registers an account",
        "Prints a URL with which somebody registers an account, once, within 7 days. It has no\n"
        "effect where registration is closed.",
        "invite -- someone@example.com",
    )
    _add_optional(command, "email", "the e-mail address that it is for; empty for anyone")

    command = add(
        commands.set_role,
        "role",
        "make an account an administrator or a member",
        "Sets the role of an account. Administrators decide about reports and accounts in the\n"
        "browser. The last administrator cannot become a member.",
        "role -- someone@example.com administrator",
    )
    command.add_argument("email", metavar="EMAIL", type=parse_required, help=_EMAIL_HELP)
    command.add_argument(
        "role", metavar="ROLE", type=parse_text, choices=tuple(ROLES), help=" or ".join(ROLES)
    )
    return parser


def _add_optional(
    command: ArgumentParser, name: str, about: str, parse: Callable[[str], object] | None = None
) -> None:
    """Add an optional argument to a command, by default a text; absent is the same as empty."""
    command.add_argument(
        name, metavar=name.upper(), nargs="?", type=parse or parse_text, default="", help=about
    )


def parse_text(marked: str) -> str:
    """Return the value of an argument as it was given."""
    return marked.removeprefix(_MARK)


def parse_required(marked: str) -> str:
    text = parse_text(marked)
    if not text:
        raise ArgumentTypeError("must not be empty")
    return text


def _parse_page(marked: str) -> int:
    text = parse_text(marked)
    if not text:
        return 1
    if text.isdecimal() and len(text) <= _MAX_PAGE_DIGITS and int(text) > 0:
        return int(text)
    raise ArgumentTypeError("not the number of a page, from 1")
