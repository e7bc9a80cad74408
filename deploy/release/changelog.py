"""Reads the text of a version in CHANGELOG.md, whose format is that of Keep a Changelog."""

from __future__ import annotations

import re

_HEADING = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>.*))?$", re.MULTILINE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_RELATIVE_LINK = re.compile(r"(\]\()(?![a-z]+:|#)")


def read_release(version: str, changelog: str) -> str:
    """Return the text below the heading of a version.

    Raises LookupError if the version has no heading, no date, or no text.
    """
    headings = list(_HEADING.finditer(changelog))
    names = [heading["version"] for heading in headings]
    if version not in names:
        raise LookupError(f"CHANGELOG.md has no section {version}.")
    position = names.index(version)
    heading = headings[position]
    if not _DATE.fullmatch(heading["date"] or ""):
        raise LookupError(f"CHANGELOG.md does not date {version}: ## [{version}] - YYYY-MM-DD")
    end = headings[position + 1].start() if position + 1 < len(headings) else len(changelog)
    text = changelog[heading.end() : end].strip()
    if not text:
        raise LookupError(f"CHANGELOG.md says nothing about {version}.")
    return text


def complete_links(text: str, folder: str) -> str:
    """Return a text in which links to files of the repository are URLs below `folder`."""
    return _RELATIVE_LINK.sub(rf"\1{folder}/", text)
