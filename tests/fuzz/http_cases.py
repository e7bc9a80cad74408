"""What strangers may send to the public port, each case told by a seed and a number."""

from __future__ import annotations

import random
from dataclasses import dataclass

from gateway.edge import Edge
from tests.fuzz.grammar import Grammar, mutated, noise, repeated
from tests.product import BROWSER

EDGE = Edge.load()
KNOWN_CODES = tuple(f"fuzzed-{n}" for n in range(4))
"""Codes of links that are there."""
FUNCTIONS = tuple(path[1:] for path in EDGE.functions)
_TOKEN = b"%TOKEN%"
"""Where a case has a session's token, which no seed can tell."""
_LONGEST_PIPELINE = 6
_LONG = 4000
"""Bytes from which on a connection may be ended while some are on their way."""
_BROKEN_SHARE = 0.12
"""Of the cases, those whose framing is broken, too."""
_CALLS_SHARE = 0.4
"""Of the requests, those that call a function; half of them with a payload of its form."""
_CONTROLS_SHARE = 0.03
"""Of the lines, those that keep the control characters in them: such a request is refused whole."""
_CONTROLS = bytes((*range(32), 127))

_GRAMMAR = Grammar(
    {
        "method": [b"GET"] * 12 + [b"HEAD", b"HEAD", b"POST", b"OPTIONS", b"PUT", b"DELETE",
                   b"PATCH", b"TRACE", b"PROPFIND", b"M-SEARCH", b"get", b"G"],
        "target": [b"/<segment>", b"/<code>", b"/<code>", b"/<code>?<query>", b"/<page>",
                   b"/<page>?<query>", b"/<function>", b"/<segment>/<segment>",
                   b"//<host>/<segment>",
                   b"http://localhost/<code>", b"http://<host>/<code>", b"*", b"/../<segment>",
                   b"/./<code>", b"/<code>/",
                   b"/<code>+", b"/%2e%2e/%2e%2e/etc/passwd", b"/assets/<segment>", b"<host>:443"],
        "code": [*(code.encode() for code in KNOWN_CODES), b"<c><c><c><c><c><c><c><c>",
                 b"<c><c><c><c><c><c><c>%41", b"<c><c><c><c>", b"<c><c><c>", repeated(b"k", 32),
                 repeated(b"k", 33), b"register", b"dashboard", b"Login",
                 b"<c><c><c><c><c><c><c>\xc3\xa9"],
        "c": [b"a", b"Z", b"0", b"9", b"-", b"_", b"k", b"Q", b"m", b"7", b"x", b"B"],
        "page": [*(path[1:].encode() for path in (*EDGE.pages, *EDGE.gateway)),
                 b"favicon.ico", b"index.html", b"metrics", b"livez"],
        "function": [name.encode() for name in FUNCTIONS],
        "segment": [b"x", b"<text>", b"%<hex><hex>", b"%", b"%zz", b"..", b"%00", b"%u0041",
                    b"<text>%<hex><hex><text>", b";jsessionid=1", b"\xf0\x9f\x98\x80",
                    repeated(b"a", 4000), repeated(b"%2f", 900), repeated(b"/", 500)],
        "hex": [b"0", b"1", b"9", b"a", b"F", b"c", b"2"],
        "query": [b"a=1", b"<text>=<text>", b"&&&", b"%<hex><hex>=%", repeated(b"a=1&", 800)],
        "text": [b"abc", b"", b"0", b"-1", b"null", b"<c><c>", b"\xe2\x80\xae", b"\xff", b"'\"",
                 b"{{7*7}}", b"<c>%0d%0a<c>", b"\t", b"A" * 300, noise(12)],
        "host": [b"localhost", b"example.com", b"[::1]", b"127.0.0.1:99999", b"a" * 260, b"",
                 b"ex ample", b"xn--a", b"\xe4\xb8\xad.com", b"user@host", b"evil.test"],
        "version": [b"HTTP/1.1"] * 80 + [b"HTTP/1.0", b"HTTP/1.9", b"HTTP/2.0", b"HTTP/0.9"],
        "header": [b"User-Agent: <agent>", b"User-Agent: <agent>", b"Referer: <url>",
                   b"Accept: <text>", b"Accept-Language: <languages>",
                   b"Accept-Encoding: <codings>", b"Cookie: <text>=<text>",
                   b"X-Forwarded-For: <addresses>", b"X-Request-Id: <text>", b"Purpose: prefetch",
                   b"Sec-Purpose: prefetch;prerender", b"Authorization: Bearer <text>",
                   b"Origin: http://<host>", b"If-None-Match: <tags>", b"Range: bytes=<text>-",
                   b"Upgrade: <protocols>", b"Connection: <connections>", b"Expect: 100-continue",
                   b"Traceparent: 00-<text>-<text>-01", b"TE: trailers", b"X-<text>: <text>",
                   b"Access-Control-Request-Method: POST", b"Forwarded: for=<host>", b"X-A:",
                   b"Keep-Alive: timeout=<text>", b"Content-Type: <media>",
                   b"HTTP2-Settings: AAMAAABk"],
        "agent": [BROWSER.encode(), b"curl/8.0", b"", b"Mozilla/5.0 (<text>) <text>/<text>",
                  b"Mozilla/5.0 (compatible; Googlebot/2.1)", noise(300),
                  repeated(b"Mozilla/", 3000),
                  repeated(b"bot", 5000), repeated(b"a1.", 4000), b"Opera/9.80 <text>"],
        "url": [b"https://example.com/<text>", b"<text>", b"http://<host>/", b"javascript:alert(1)",
                b"https://" + b"a." * 120 + b"com/", b"data:text/html,<text>", b"ftp://<host>/",
                b"http://<host>:<text>/<text>?<query>#<text>", b"//<host>", b"http://",
                b"http://0x7f000001/", b"http://[::ffff:127.0.0.1]/", b"HTTP://EXAMPLE.COM",
                "http://bücher.example/ä?ö".encode(), repeated("😀".encode(), 999)],
        "languages": [b"es", b"en-GB,en;q=0.5", b"*", b"<text>;q=<text>", repeated(b"xx,", 900)],
        "codings": [b"gzip", b"br", b"gzip;q=0", b"identity;q=0, *;q=0", b"gzip;q=<text>", b",,,",
                    repeated(b"gzip,", 900)],
        "addresses": [b"192.0.2.1", b"<host>", b"2001:db8::1, 192.0.2.7",
                      repeated(b"1.2.3.4,", 900)],
        "tags": [b"*", b'W/"<text>"', b'"<text>', repeated(b'"a",', 900)],
        "protocols": [b"websocket", b"h2c", b"TLS/1.0", b"<text>"],
        "connections": [b"keep-alive", b"close", b"upgrade", b"Upgrade, HTTP2-Settings", b"<text>",
                        b"close, keep-alive"],
        "media": [b"application/json", b"application/json; charset=utf-16", b"text/plain",
                  b"<text>",
                  b"multipart/form-data; boundary=x", b"application/x-www-form-urlencoded"],
        "createShortLink": [b'{"data": {"code": "<code>", "url": "<json_url>", "token": <token>}}',
                            b'{"data": {"code": "<code>", "url": "<json_url>", <owner>}}'],
        "accessLink": [b'{"data": {"code": "<code>"}}', b'{"data": {"code": "<c><c>"}}'],
        "reportLink": [b'{"data": {"code": "<code>", "reason": "<reason>"}}',
                       b'{"data": {"code": "<code>", "reason": "<reason>", "details": <value>, '
                       b'"contact": <value>, <owner>}}'],
        "reason": [b"phishing", b"malware", b"spam", b"illegal", b"other", b"<text>"],
        "verifyUser": [b'{"data": {"email": "<c><c>@<c>.example", "password": "<c>"}}'],
        "registerUser": [b'{"data": {"email": "<c>@<c>.example", "password": "<bcrypt>", '
                         b'"salt": "$2b$10$abcdefghijklmnopqrstuu", "username": "<c>"}}'],
        "showProfile": [b'{"data": {"token": <token>}}'],
        "previewLink": [b'{"data": {"code": "<code>"}}', b'{"data": {"code": "<code>", <owner>}}'],
        "showLink": [b'{"data": {"code": "<code>", <owner>}}'],
        "showLinks": [b'{"data": {<owner>}}', b'{"data": {<owner>, "<list_key>": <value>}}',
                      b'{"data": {<owner>, "query": "<c>", "state": "<state>", "order": "<order>", '
                      b'"limit": <number>}}'],
        "changeLink": [b'{"data": {"code": "<code>", "changes": {<change>}, <owner>}}',
                       b'{"data": {"code": "<code>", "changes": {<change>, <change>}, <owner>}}'],
        "removeLinks": [b'{"data": {"codes": [<codes>], <owner>}}'],
        "restoreLinks": [b'{"data": {"codes": [<codes>], <owner>}}'],
        "claimLinks": [b'{"data": {"token": <token>, "guest": <guest>}}'],
        "createScanCode": [b'{"data": {"code": "<code>", <owner>}}'],
        "showStatistics": [b'{"data": {"code": "<code>", <owner>}}',
                           b'{"data": {"code": null, <owner>, "range": <range>}}',
                           b'{"data": {"code": "<code>", <owner>, "range": <range>, '
                           b'"timezone": <timezone>}}'],
        "range": [b'"30 days"', b'"24 hours"', b'"all"', b'"12 months"', b'"<text>"', b"<value>",
                  b'{"from": <date>, "to": <date>}', b'{"from": <date>, "to": <date>}',
                  b'{"from": <date>}', b'{"from": <date>, "to": <date>, "x": 1}'],
        "date": [b'"2026-11-22"', b'"2017-01-01"', b'"2026-02-30"', b'"0001-01-01"',
                 b'"9999-12-31"', b'"10000-01-01"', b'"2026-1-1"', b'"<moment>"', b"<value>"],
        "timezone": [b'"UTC"', b'"America/Santiago"', b'"Asia/Kathmandu"', b'"Etc/GMT+12"',
                     b'"Antarctica/Troll"', b'"../../etc/passwd"', b'"/etc/localtime"', b'"."',
                     b'"UTC\\u0000"', b'"<text>"', b"<value>"],
        "changePassword": [b'{"data": {"token": <token>, "password": "<c>", '
                           b'"new_password": "<hash>", "new_salt": "<hash>"}}'],
        "removeAccount": [b'{"data": {"token": <token>, "password": "<c>"}}'],
        "owner": [b'"guest": <guest>', b'"guest": <guest>', b'"token": <token>',
                  b'"token": <token>, "guest": <guest>'],
        "guest": [b'"' + b"g" * 43 + b'"', b'"' + b"g" * 43 + b'"', b'"' + b"_-" * 21 + b'<c>"',
                  b"null", b'""', b'"' + b"g" * 42 + b'="', b"<value>"],
        "codes": [b'"<code>"', b'"<code>", "<code>"', b"", b'"abcdefgh", ' * 100 + b'"a"',
                  b"<value>"],
        "list_key": [b"query", b"state", b"order", b"limit", b"cursor", b"x"],
        "state": [b"active", b"expired", b"removed", b"blocked", b"<text>"],
        "order": [b"newest", b"oldest", b"most viewed", b"<text>"],
        "number": [b"1", b"100", b"101", b"-1", b"1.0", b"9" * 400, b"null"],
        "change": [b'"url": "<json_url>"', b'"title": <value>', b'"title": "<c><c>"',
                   b'"tags": [<value>]', b'"tags": ["<c>", "<c>"]', b'"expires_at": "<moment>"',
                   b'"expires_at": <value>', b'"ended_url": "<json_url>"',
                   b'"public_statistics": <value>', b'"<text>": <value>'],
        "moment": [b"2086-01-01T00:00:00Z", b"2020-01-01T00:00+02:00", b"0001-01-01T00:00:00+14:00",
                   b"9999-12-31T23:59:59-14:00", b"2086-02-30T25:61:61Z", b"2086-01-01", b"<text>"],
        "body": [b'{"data": <payload>}', b'{"data": <payload>}', b'{"data": <payload>}',
                 b'{"data": <value>}', b'{"data": <payload>, "x": 1}', b"<value>", b"", noise(200),
                 b'{"data": <payload>', b'\xef\xbb\xbf{"data": <payload>}',
                 b'{"data": {"token": NaN}}',
                 repeated(b"[", 20_000), repeated(b'{"data":', 5000), repeated(b" ", 70_000),
                 b"GET /<code> HTTP/1.1\r\nHost: localhost\r\n\r\n"],
        "payload": [b"{}", b'{"code": "<code>"}', b'{"token": <token>}',
                    b'{"code": <value>, "url": <value>, "token": <value>}',
                    b'{"code": "<code>", "url": "<json_url>", "token": <token>}',
                    b'{"code": "<code>", "url": "<json_url>", "token": <token>, "guest": <value>}',
                    b'{"email": <value>, "password": <value>}',
                    b'{"email": <value>, "password": <value>, "device": <value>}',
                    b'{"email": <value>, "password": "<hash>", "salt": "<hash>", '
                    b'"username": <value>}',
                    b'{"code": "<code>", "code": "<code>"}', b'{"\\u0000": 1}',
                    b'{"code": "\\ud800"}',
                    b'{"<text>": <value>}'],
        "json_url": [b"https://example.com/<c><c>", b"http://localhost/<code>", b"\\u0000", b"<c>",
                     b"https://example.com/\\ud83d\\ude00", b"javascript:alert(1)", b"http://[",
                     repeated(b"a", 1100), repeated("😀".encode(), 999), b"http://xn--/",
                     b"\\t\\n"],
        "token": [b"null", b"null", b'""', b'"' + _TOKEN + b'"', b'"a.b.c"',
                  b'"eyJhbGciOiJub25lIn0.e30."', b"<value>"],
        "bcrypt": [b"$2b$10$abcdefghijklmnopqrstuu" + b"<c>" * 30 + b"."],
        "hash": [b"<bcrypt>", b"$2b$10$<c>", b"$2a$10$abcdefghijklmnopqrstuu", b"<c>",
                 repeated(b"$2b$", 99)],
        "value": [b"null", b"true", b"0", b"-1", b"1e999", b"9" * 400, b'""',
                  b'"<c><c>@<c>.example"',
                  b'"x"', b"[]", b"{}", b"[<value>, <value>]", b'{"a": <value>}', b'"\\u0000"',
                  b'"\\ud800"', b'"\xff"', b'"' + b"p" * 80 + b'"', b"NaN", b"Infinity", b"-0.0",
                  repeated(b"[", 300), '"ñé😀"'.encode(), b'"' + b"w" * 5000 + b'"'],
    }
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """What is sent over one connection: the pieces in turn.

    `methods` are those of the requests, in order, where the framing is right: each is answered
    before the connection ends, unless one of them is refused and ends it. Where it is broken there
    is nothing to wait for but the connection's end. Where one is long it may be refused before it
    was read to its end, and the kernel then takes the answer back.
    """

    pieces: tuple[bytes, ...]
    methods: tuple[bytes, ...] | None

    @property
    def is_long(self) -> bool:
        return sum(map(len, self.pieces)) > _LONG


def case(seed: int, number: int, token: str) -> Case:
    """The case of a number; always the same, but for the token."""
    chance = random.Random(f"http {seed} {number}")
    count = chance.choice((1, 1, 1, 2, _LONGEST_PIPELINE))
    requests = [_request(chance, token) for _ in range(count)]
    data = b"".join(request for _, request in requests)
    if chance.random() < _BROKEN_SHARE:
        return Case(_pieces(mutated(data, chance), chance), None)
    return Case(_pieces(data, chance), tuple(method for method, _ in requests))


def _request(chance: random.Random, token: str) -> tuple[bytes, bytes]:
    """A method and a whole request of it: any text in its fields, none that would end one."""
    if chance.random() < _CALLS_SHARE:
        function = chance.choice(FUNCTIONS)
        method, target = b"POST", f"/{function}".encode()
        headers = [b"Content-Type: application/json"]
        body = chance.choice((function, "body"))
    else:
        method, target = _line("method", chance), _line("target", chance) or b"/"
        headers = []
        body = "body" if method not in (b"GET", b"HEAD") or chance.random() < 0.1 else ""
    headers += [_line("header", chance) for _ in range(chance.choice((0, 1, 2, 4, 12)))]
    chance.shuffle(headers)
    data = _GRAMMAR.some(body, chance).replace(_TOKEN, token.encode()) if body else b""
    if body and chance.random() < 0.2:
        headers.append(b"Transfer-Encoding: chunked")
        data = _chunked(data, chance)
    elif body:
        headers.append(b"Content-Length: %d" % len(data))
    lines = [b"%s %s %s" % (method, target, _line("version", chance)), b"Host: localhost", *headers]
    return method, b"\r\n".join(lines) + b"\r\n\r\n" + data


def _line(rule: str, chance: random.Random) -> bytes:
    """A rule's text without what would end a line."""
    unwanted = b"\r\n\0" if chance.random() < _CONTROLS_SHARE else _CONTROLS
    return _GRAMMAR.some(rule, chance).translate(None, unwanted)


def _chunked(body: bytes, chance: random.Random) -> bytes:
    cut = chance.randint(0, len(body))
    chunks = [chunk for chunk in (body[:cut], body[cut:]) if chunk]
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def _pieces(data: bytes, chance: random.Random) -> tuple[bytes, ...]:
    if chance.random() < 0.8:
        return (data,)
    cuts = sorted(chance.randint(0, len(data)) for _ in range(chance.randint(1, 5)))
    return tuple(data[a:b] for a, b in zip((0, *cuts), (*cuts, len(data)), strict=True))
