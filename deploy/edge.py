"""Writes the pages' part of the edge's one table: `python -m deploy.edge` (`make edge`).

The pages are built where neither Python nor `deploy/edge.toml` is, so they have a copy of what they
need of it, in TypeScript.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from string import ascii_lowercase, ascii_uppercase, digits, punctuation

from services.shared import codes, edge_table

_MODULE = """\
// Made by `make edge` from deploy/edge.toml: change that.

/** The paths of the pages. */
export const pages = {{
{pages}
}} as const;

{path_makers}

/** The paths of the functions, which are called by POST. */
export const functions = {{
{functions}
}} as const;

/** What the gateway answers itself. */
export const gateway = {{
{gateway}
}} as const;

/** The first segments of all paths above: no link is looked up under them. */
export const routes: readonly string[] = [pages, functions, gateway]
  .flatMap((paths) => Object.values(paths))
  .map((path) => path.split('/')[1] ?? '')
  .filter((segment) => /^[^:]/.test(segment));

/** What no new link may have as its code beside them, in lower case. */
export const reserved: readonly string[] = [
{reserved}
];

/** The 64 characters of a code. */
export const CODE_ALPHABET = '{alphabet}';
/** Characters of the codes that the page makes. */
export const CODE_LENGTH = {length};
/** A code as a regular expression, without anchors. */
export const CODE_PATTERN = '{pattern}';
/** The characters that may follow a code in a short URL, as a regular expression of one of them. */
export const TRAILING_PATTERN =
  '[{trailing}]';
"""

_PATH_MAKER = """\
/** The path of the page `{name}` for a link's code. */
export function {name}Path(code: string): string {{
  return `{template}`;
}}"""


def module() -> str:
    """The TypeScript module, formatted as Prettier would."""
    table = edge_table.read()
    every = ascii_uppercase + ascii_lowercase + digits + punctuation
    return _MODULE.format(
        pages=_entries({name: page["path"] for name, page in table["pages"].items()}),
        path_makers="\n\n".join(
            _PATH_MAKER.format(name=name, template=page["path"].replace(edge_table.CODE, "${code}"))
            for name, page in table["pages"].items()
            if edge_table.CODE in page["path"]
        ),
        functions=_entries({path[1:]: path for path in edge_table.functions(table)}),
        gateway=_entries(table["gateway"]),
        reserved=_items(codes.RESERVED - {name.lower() for name in codes.ROUTES}),
        alphabet="".join(c for c in every if re.fullmatch(f"[{codes.CHARACTERS}]", c)),
        length=codes.CODE_LENGTH,
        pattern=codes.PATTERN,
        trailing=_ranges(codes.TRAILING),
    )


def _ranges(characters: str) -> str:
    """Return the characters as the inside of a character class, in a TypeScript string."""
    ranges: list[list[int]] = []
    for point in sorted(map(ord, characters)):
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(
        "-".join(f"\\\\u{point:04x}" for point in dict.fromkeys(each)) for each in ranges
    )


def _entries(values: Mapping[str, str]) -> str:
    return "\n".join(f"  {name}: '{value}'," for name, value in values.items())


def _items(values: Iterable[str]) -> str:
    return "\n".join(f"  '{value}'," for value in sorted(values))


if __name__ == "__main__":
    sys.stdout.write(module())
