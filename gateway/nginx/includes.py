"""Generates nginx configuration from deploy/edge.toml: `python -m gateway.nginx.includes FOLDER`.

`deploy/nginx/nginx.conf` is written by hand and includes these files; `make nginx` writes them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from starlette.responses import Response

from gateway.api.app import CORS_HEADERS
from gateway.api.problems import from_error
from gateway.functions.protocol import failure
from gateway.pages import further
from gateway.pages.files import SERVICE_WORKER, SERVICE_WORKER_OFF, TYPES
from gateway.pages.html import DOCUMENTS, document_path
from gateway.pages.languages import VARY
from gateway.support.edge import Edge, RawHeaders
from gateway.support.json_bodies import BodyTooLarge
from gateway.support.rate_limits import too_many_calls
from services.shared import link_codes
from services.shared.errors import AppError, DeadlineExceeded, Unavailable
from services.shared.trailing import TRAILING_PATTERN

_BODY_HEADERS = (b"content-length", b"content-type")
_HEADER = "# Made by `make nginx`: change deploy/edge.toml or gateway/nginx/includes.py.\n\n"


def includes(edge: Edge) -> dict[str, str]:
    """Return the content of the files by name."""
    return {
        name: _HEADER + "\n".join(lines) + "\n"
        for name, lines in (
            ("values.conf", _values(edge)),
            ("types.conf", _types()),
            ("headers.conf", _headers(edge.page_headers)),
            ("further_headers.conf", _headers(_further_headers(edge))),
            ("https_headers.conf", _headers(edge.https_headers)),
            # What exceeds the buffer goes to a file.
            ("large_call.conf", [f"client_max_body_size {edge.large_body_bytes};"]),
            ("redirect_buffers.conf", _redirect_buffers(edge)),
            ("routes.conf", _routes(edge)),
            ("own_documents.conf", _own_documents(edge)),
            ("callable_errors.conf", _callable_errors(edge)),
            ("api_errors.conf", _api_errors(edge)),
        )
    }


def _values(edge: Edge) -> list[str]:
    """Return limits, and the values of headers as variables."""
    constants = {
        "$edge_cache_document": edge.cache_document.decode(),
        "$edge_cache_hashed": edge.cache_hashed.decode(),
        "$edge_cache_error": edge.cache_error.decode(),
        "$edge_retry_after": str(edge.retry_after),
        "$edge_vary_document": VARY,
    }
    return [
        f"client_max_body_size {edge.body_bytes};",
        f"client_body_buffer_size {edge.body_bytes};",
        "",
        "# A map of nothing is a constant.",
        *(f'map "" {name} {{ default "{value}"; }}' for name, value in constants.items()),
        "",
        *_block(
            "map $uri $edge_cache_files",
            [
                f'default "{edge.cache_files.decode()}";',
                f'{SERVICE_WORKER} "{edge.cache_document.decode()}";',
                f'{SERVICE_WORKER_OFF} "{edge.cache_document.decode()}";',
            ],
        ),
        "",
        "# The location of a call, by its path.",
        *_block(
            "map $uri $call",
            [
                "default /.call;",
                f'"~^{edge.api}(?:/|\\z)" /.api;',
                *(
                    f"{path} /.large_call;"
                    for path in sorted(edge.large_functions)
                    if path in edge.functions
                ),
            ],
        ),
    ]


def _further_headers(edge: Edge) -> RawHeaders:
    """Return the headers of a document at a further origin."""
    policy = (b"content-security-policy", further.POLICY.encode())
    return (*edge.plain_headers, policy)


def _redirect_buffers(edge: Edge) -> list[str]:
    """Return the sizes of buffers for the header section of every redirect."""
    return [
        f"proxy_buffer_size {edge.redirect_header_bytes};",
        f"proxy_busy_buffers_size {edge.redirect_header_bytes};",
    ]


def _types() -> list[str]:
    """Return content types with their file extensions."""
    by_type = sorted(TYPES.items(), key=lambda item: item[1])
    groups = groupby(by_type, key=lambda item: item[1])
    return _block(
        "types",
        (f'"{kind}" {" ".join(suffix[1:] for suffix, _ in group)};' for kind, group in groups),
    )


def _routes(edge: Edge) -> list[str]:
    """Return a location for each page, function, other path, short URLs and hashed files."""
    return [
        *(_page(path, edge) for path in edge.pages),
        "",
        *(_rewritten(path, "/.call") for path in edge.functions),
        "",
        *(_rewritten(path, "/.gateway") for path in edge.gateway),
        "",
        _rewritten(edge.api, "/.api"),
        f"location ^~ {edge.api}/ {{ rewrite ^ /.api last; }}",
        "",
        *_block(f'location ~ "^/{link_codes.PATTERN}\\z"', ["include short_address.conf;"]),
        "",
        # The gateway decides. It receives the path as matched: decoded, normalized, encoded again.
        *_block(
            f'location ~ "^//?{link_codes.PATTERN}{_trailing()}*+\\z"',
            ["rewrite ^ $uri break;", "include short_address.conf;"],
        ),
        "",
        *_block(
            f"location {edge.hashed_prefix}",
            ["try_files $uri =404;", "set $cache_control $edge_cache_hashed;"],
        ),
    ]


def _trailing() -> str:
    """Return a regular expression of bytes that may follow a code: in ASCII exactly, else any.

    nginx matches bytes. In PCRE's UTF mode it would answer 500 to a path that is not valid UTF-8.
    """
    trailing = re.compile(TRAILING_PATTERN)
    allowed = (f"\\x{byte:02x}" for byte in range(0x80) if trailing.match(chr(byte)))
    return f"[{''.join(allowed)}\\x80-\\xff]"


def _page(path: str, edge: Edge) -> str:
    inner = DOCUMENTS + document_path(path, edge)
    if path in edge.link_pages:
        return f'location ~ "^{edge.pattern_of(path)}\\z" {{ include link_page.conf; }}'
    if pattern := edge.pattern_of(path):
        return f'location ~ "^{pattern}\\z" {{ rewrite ^ {inner} last; }}'
    return _rewritten(path, inner)


def _rewritten(path: str, inner: str) -> str:
    return f"location = {path} {{ rewrite ^ {inner} last; }}"


def _own_documents(edge: Edge) -> list[str]:
    """Return a location for each document of a single page, with its own headers."""
    lines: list[str] = []
    for path in edge.documents:
        inner = document_path(path, edge)
        body = [
            "internal;",
            f"alias documents{inner};",
            *_headers(edge.document_headers),
            "include start/https_headers.conf;",
            f'add_header cache-control "{edge.cache_document.decode()}" always;',
            f'add_header vary "{VARY}" always;',
            'add_header last-modified "" always;',
        ]
        lines += ["", *_block(f"location = {DOCUMENTS}{inner}", body)]
    return lines[1:]


def _callable_errors(edge: Edge) -> list[str]:
    """Return nginx's own error responses to calls, with the text and headers of the gateway."""
    errors: dict[str, AppError] = {
        "@too_large": BodyTooLarge(edge.body_bytes),
        "@too_large_call": BodyTooLarge(edge.large_body_bytes),
        "@unavailable": Unavailable("The gateway is away."),
        "@deadline_exceeded": DeadlineExceeded("The gateway did not answer."),
        "@too_many_large_calls": too_many_calls(),
    }
    lines: list[str] = []
    for location, error in errors.items():
        response = failure(error, edge.function_headers)
        headers = [header for header in response.raw_headers if header[0] not in _BODY_HEADERS]
        lines += _error(location, response, headers)
    return lines[1:]


def _api_errors(edge: Edge) -> list[str]:
    """Return nginx's own error responses to requests of the REST API.

    They have no state of a limit, which only the gateway knows.
    """
    errors: dict[str, AppError] = {
        "@api_unavailable": Unavailable("The gateway is away."),
        "@api_deadline_exceeded": DeadlineExceeded("The gateway did not answer."),
        "@api_too_many_large_calls": too_many_calls(),
    }
    lines: list[str] = []
    for location, error in errors.items():
        problem = from_error(error)
        own = [(name.encode(), value.encode()) for name, value in problem.headers.items()]
        headers = (*edge.function_headers, *CORS_HEADERS, *own)
        lines += _error(location, problem.response(), headers)
    return lines[1:]


def _error(location: str, response: Response, headers: Iterable[tuple[bytes, bytes]]) -> list[str]:
    """Return a location with a constant response, whatever the extension of the path."""
    body = [
        "types {}",
        f"default_type {response.media_type};",
        f"return {response.status_code} '{bytes(response.body).decode()}';",
        *_headers(headers),
        "include start/https_headers.conf;",
    ]
    return ["", *_block(f"location {location}", body)]


def _headers(headers: Iterable[tuple[bytes, bytes]]) -> list[str]:
    return [f'add_header {name.decode()} "{value.decode()}" always;' for name, value in headers]


def _block(head: str, lines: Iterable[str]) -> list[str]:
    return [f"{head} {{", *(f"    {line}" for line in lines), "}"]


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("Usage: python -m gateway.nginx.includes FOLDER")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in includes(Edge.load()).items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
