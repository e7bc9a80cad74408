"""The build context of the images: the files that `.dockerignore` lets a build see.

The rules are Docker's, which differ from Git's: patterns start at the root, the last pattern that
matches decides, and a file in an ignored folder can be included again. Source:
https://docs.docker.com/build/concepts/context/#dockerignore-files and `MatchesUsingParentResults`
in https://github.com/moby/patternmatcher.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Pattern:
    """A line of `.dockerignore`. `includes` is true after an exclamation mark."""

    text: str
    includes: bool

    @classmethod
    def parse(cls, line: str) -> Pattern:
        text = line.strip()
        includes = text.startswith("!")
        text = posixpath.normpath(text.removeprefix("!").strip())
        return cls(text.lstrip("/") or "/", includes)

    def matches(self, path: str) -> bool:
        return re.fullmatch(_regular_expression(self.text), path, re.DOTALL) is not None

    def may_match_below(self, folder: str) -> bool:
        """Tell whether a path in the folder can match, without false negatives."""
        fixed = re.split(r"[*?\[\\]", self.text, maxsplit=1)[0]
        return fixed.startswith(f"{folder}/") or (fixed != self.text)


def _regular_expression(pattern: str) -> str:
    tokens = re.findall(r"\*\*/?|\\.|.", pattern, re.DOTALL)
    is_suffix = tokens[0] == "**" and not any(token[0] in "*?[]\\" for token in tokens[1:])
    return "".join(
        ".*"
        if token.startswith("**") and (is_suffix or index == len(tokens) - 1)
        else _expression_of(token)
        for index, token in enumerate(tokens)
    )


def _expression_of(token: str) -> str:
    if token.startswith("**"):
        return "(?:.*/)?"
    if token in "*?":
        return "[^/]*" if token == "*" else "[^/]"
    # Brackets and what they contain mean the same in both.
    return f"\\{token}" if token in ".+()|{}$" else token


def parse(text: str) -> list[Pattern]:
    """Return the patterns of a `.dockerignore`."""
    lines = text.removeprefix("\ufeff").splitlines()
    return [Pattern.parse(line) for line in lines if line.strip() and not line.startswith("#")]


def files(root: Path, patterns: list[Pattern]) -> Iterator[str]:
    """Yield the paths of all files in the context, relative to `root`."""
    yield from _walk(root, "", patterns, [False] * len(patterns))


def _walk(root: Path, folder: str, patterns: list[Pattern], matched: list[bool]) -> Iterator[str]:
    """Yield the files of a folder. `matched` are the patterns that matched the folder."""
    for entry in sorted(os.scandir(root / folder), key=lambda entry: entry.name):
        path = f"{folder}/{entry.name}" if folder else entry.name
        ignored = False
        own = list(matched)
        for index, pattern in enumerate(patterns):
            # A pattern that would change nothing is not tried, also not for what is below.
            if not own[index] and pattern.includes == ignored:
                own[index] = pattern.matches(path)
            if own[index]:
                ignored = not pattern.includes
        if entry.is_dir(follow_symlinks=False):
            if not ignored or any(p.includes and p.may_match_below(path) for p in patterns):
                yield from _walk(root, path, patterns, own)
        elif not ignored:
            yield path


def lay_out(root: Path, context: Path) -> None:
    """Copy the build context of a checkout to a folder."""
    patterns = parse((root / ".dockerignore").read_text(encoding="utf-8"))
    for path in files(root, patterns):
        (context / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / path, context / path, follow_symlinks=False)
