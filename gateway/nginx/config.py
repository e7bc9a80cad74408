"""Writes nginx's configuration from the edge's one list: `python -m gateway.nginx.config`.

What is known only where nginx runs stands between @s; deploy/nginx/start.sh fills it in.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from itertools import groupby
from string import Template

from starlette.responses import Response

from gateway.callable import failure, too_large
from gateway.edge import Edge, RawHeaders
from gateway.nginx.webroot import UNLISTED, document_of
from gateway.resolver import CODE
from gateway.site import TYPES
from services.runtime.errors import DeadlineExceeded, Unavailable


class _Text(Template):
    delimiter = "%"  # nginx has another use for $.


_CONFIG = _Text("""\
# Made by `make nginx` from deploy/edge.toml: change that, or gateway/nginx/config.py.
# deploy/nginx/start.sh fills in what stands between @s.

daemon off;
pid @WORK@/nginx.pid;
# A container's share is about a core, whatever the machine has: more come as replicas.
worker_processes 2;
worker_rlimit_nofile 8192;
# Lower levels tell of single requests, with the visitor's address and the short one. What the
# gateway did is in its own log and metrics.
error_log stderr crit;

events {
    worker_connections 4096;
}

http {
    access_log off;
    server_tokens off;
    sendfile on;
    tcp_nopush on;
    # The path as it is sent, as the gateway sees it.
    merge_slashes off;
    max_ranges 0;

    client_body_temp_path @WORK@/client_body;
    proxy_temp_path @WORK@/proxy;
    fastcgi_temp_path @WORK@/fastcgi;
    uwsgi_temp_path @WORK@/uwsgi;
    scgi_temp_path @WORK@/scgi;

    default_type application/octet-stream;
    types {
%{types}
    }

    # Compressed when the pages were built; `Vary` is set beside the other headers.
    gzip_static on;
    gzip_proxied any;

    client_header_timeout 15s;
    client_body_timeout 15s;
    keepalive_timeout 75s;

    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $http_host;
    # One address, found below: what a stranger claims goes no further.
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_redirect off;
    proxy_max_temp_file_size 0;
    proxy_connect_timeout 2s;
    # Above the 70 s that the functions' client waits.
    proxy_read_timeout 75s;
    proxy_send_timeout 75s;
    # Every function may be sent twice. An answer that is only slow is not asked for again.
    proxy_next_upstream error timeout non_idempotent;
    proxy_next_upstream_timeout 5s;

    # The name is looked up when nginx starts. What gets no connection at that address goes by the
    # socket below, which looks the name up anew and keeps no connections: five times the work, so
    # that a few that broke, as when one of several gateways ends, must not send everybody there.
    upstream atajo_gateway {
        server @GATEWAY@ max_fails=32 fail_timeout=5s;
        server unix:@WORK@/anew.sock backup max_fails=0;
        keepalive 64;
        # Shorter than the 5 s after which the gateway closes a connection that nobody uses.
        keepalive_timeout 4s;
    }

    server {
        listen unix:@WORK@/anew.sock;
        @RESOLVER@
        set $gateway @GATEWAY@;

        location / {
            proxy_pass http://$gateway$request_uri;
            proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For $http_x_forwarded_for;
            error_page 502 504 @away;
        }

        location @away {
            return 444;
        }
    }

    # Only GET and HEAD read; everything else is a call, and so is a function's path.
    map "$request_method $uri" $is_call {
        default 1;
        "~^(GET|HEAD) (%{functions})\\z" 1;
        "~^(GET|HEAD) " "";
    }

    map $uri $document {
        default %{unlisted};
%{documents}
    }

    server {
        listen @LISTEN@;
        root @WEB@/files;

        # Whose request it is: the right-most address that is no trusted proxy.
        @TRUSTED_PROXIES@
        real_ip_header X-Forwarded-For;
        real_ip_recursive on;

        client_max_body_size %{body_bytes};
        client_body_buffer_size %{body_bytes};

        # On all that nginx answers itself. What the gateway answers has its own.
%{own_headers}
        add_header cache-control $cache_control always;
        add_header retry-after $retry_after always;
        add_header vary accept-encoding always;
        # Of a document it would tell what start.sh made of its content.
        add_header last-modified "" always;

        error_page 404 @missing;
        error_page 413 = @too_large;

        if ($is_call) {
            rewrite ^ /.call last;
        }

        location = /.call {
            internal;
            proxy_pass http://atajo_gateway$request_uri;
            %{no_own_headers}
            error_page 404 @missing;
            error_page 413 = @too_large;
            error_page 502 503 = @unavailable;
            error_page 504 = @deadline_exceeded;
        }

        location ~ ^(%{pages})\\z {
            root @WORK@/documents;
            try_files $document =404;
            set $cache_control "%{cache_document}";
        }

        location ~ "^/%{code}\\z" {
            proxy_pass http://atajo_gateway;
            %{no_own_headers}
            proxy_intercept_errors on;
            error_page 404 @missing;
            error_page 502 503 504 =503 @failing;
        }

        location ~ ^(%{gateway})\\z {
            proxy_pass http://atajo_gateway;
            %{no_own_headers}
            error_page 502 503 504 =503 @failing;
        }

        # Only ever sent in place of the file they are made of.
        location ~ \\.gz\\z {
            return 404;
        }

        location %{hashed_prefix} {
            try_files $uri =404;
            set $cache_control "%{cache_hashed}";
        }

        location / {
            try_files $uri =404;
            set $cache_control "%{cache_file}";
        }

        location @missing {
            root @WORK@/documents;
            try_files %{unlisted} =404;
            etag off;
            set $cache_control "%{cache_error}";
        }

        location @failing {
            root @WORK@/documents;
            try_files %{unlisted} =503;
            etag off;
            set $cache_control "%{cache_error}";
            set $retry_after %{retry_after};
        }

        location @too_large {
%{too_large}
%{function_headers}
        }

        location @unavailable {
%{unavailable}
%{function_headers}
        }

        location @deadline_exceeded {
%{deadline_exceeded}
%{function_headers}
        }
    }

    # For those who run it; never public.
    server {
        listen @METRICS_LISTEN@;

        location / {
            return 404;
        }

        location = /livez {
            default_type text/plain;
            return 200 "ok\\n";
        }

        location = /readyz {
            default_type application/json;
            return 200 '{"ready":true,"dependencies":{}}';
        }

        location = /metrics {
            default_type "text/plain; version=0.0.4; charset=utf-8";
            return 200 "%{metrics}";
        }
    }
}
""")

_CONNECTIONS = {
    "active": "Connections of clients, those that wait included.",
    "reading": "Connections whose request is being read.",
    "writing": "Connections that are being answered.",
    "waiting": "Connections that are kept for the next request.",
}


def config(edge: Edge) -> str:
    """The configuration, with placeholders."""
    return _CONFIG.substitute(
        types=_lines(8, (f'"{kind}" {" ".join(names)};' for kind, names in _types())),
        functions=_any_of(edge.functions),
        gateway=_any_of(edge.gateway),
        pages=_any_of(edge.pages),
        documents=_lines(8, (f"{path} {document_of(path, edge)};" for path in edge.listed)),
        unlisted=UNLISTED,
        code=CODE.pattern,
        body_bytes=edge.body_bytes,
        retry_after=edge.retry_after,
        hashed_prefix=edge.hashed_prefix,
        own_headers=_headers(8, edge.page_headers),
        # A list of its own, even of nothing, is what keeps a location from the server's.
        no_own_headers=f'add_header {edge.page_headers[0][0].decode()} "";',
        function_headers=_headers(12, edge.function_headers),
        cache_document=edge.cache_document.decode(),
        cache_hashed=edge.cache_hashed.decode(),
        cache_file=edge.cache_files.decode(),
        cache_error=edge.cache_error.decode(),
        too_large=_return(failure(too_large(edge.body_bytes), ())),
        unavailable=_return(failure(Unavailable("The gateway is away."), ())),
        deadline_exceeded=_return(failure(DeadlineExceeded("The gateway did not answer."), ())),
        metrics="".join(map(_metric, _CONNECTIONS)),
    )


def _types() -> list[tuple[str, list[str]]]:
    """Content types with the endings of their files."""
    by_type = sorted(TYPES.items(), key=lambda item: item[1])
    return [
        (kind, [suffix[1:] for suffix, _ in group])
        for kind, group in groupby(by_type, key=lambda item: item[1])
    ]


def _any_of(paths: tuple[str, ...]) -> str:
    return "|".join(map(re.escape, paths))


def _headers(indent: int, headers: RawHeaders) -> str:
    return _lines(
        indent,
        (f'add_header {name.decode()} "{value.decode()}" always;' for name, value in headers),
    )


def _return(response: Response) -> str:
    """A constant answer, whatever the ending of the path that it stands for."""
    body = bytes(response.body).decode()
    lines = (
        "types {}",
        f"default_type {response.media_type};",
        f"return {response.status_code} '{body}';",
    )
    return _lines(12, lines)


def _metric(state: str) -> str:
    name = f"nginx_connections_{state}"
    return (
        f"# HELP {name} {_CONNECTIONS[state]}\n# TYPE {name} gauge\n{name} $connections_{state}\n"
    )


def _lines(indent: int, lines: Iterable[str]) -> str:
    return "\n".join(" " * indent + line for line in lines)


if __name__ == "__main__":
    sys.stdout.write(config(Edge.load()))
