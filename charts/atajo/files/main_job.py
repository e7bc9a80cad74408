"""`helm test`: an account shortens a link, follows it, and expects its view in the list.

Where nobody can register without an invitation, it expects that, and that an unknown code has no
link. Arguments: the origin, and the value `registration`.
"""

import json
import secrets
import string
import sys
import time
import urllib.error
import urllib.request
from typing import Any

import bcrypt

ORIGIN, REGISTRATION = sys.argv[1:]
TARGET = "https://example.com/a?b=c#d"
PATIENCE = 30.0


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Do not follow redirects."""


_web = urllib.request.build_opener(_Stay)


def call(function: str, data: object) -> Any:
    """Call a function and return its `data`."""
    request = urllib.request.Request(
        f"{ORIGIN}/{function}",
        json.dumps({"data": data}).encode(),
        {"content-type": "application/json"},
    )
    with _web.open(request, timeout=70) as response:
        return json.load(response)["data"]


def follow(code: str) -> str:
    """Return the destination of a short URL."""
    request = urllib.request.Request(f"{ORIGIN}/{code}", headers={"user-agent": "Mozilla/5.0"})
    try:
        _web.open(request, timeout=10).close()
    except urllib.error.HTTPError as answer:
        if answer.code == 302:
            return answer.headers["location"]
        raise
    raise AssertionError(f"/{code} did not redirect")


def main() -> None:
    code = "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(8))
    email, password = f"{code}@example.com", "Camino-42"
    salt = bcrypt.gensalt(10)
    hashed = bcrypt.hashpw(password.encode(), salt)
    account = {"email": email, "username": "helm", "salt": salt.decode()}
    registered = call("registerUser", account | {"password": hashed.decode()})
    if REGISTRATION != "open":
        assert registered.get("error") in ("closed", "invitation"), registered
        assert call("accessLink", {"code": code})["longUrl"] == []
        print("nobody registers without an invitation, and an unknown code has no link")
        return
    assert registered == {"success": True}
    token = call("verifyUser", {"email": email, "password": password})["token"]
    assert call("createShortLink", {"code": code, "url": TARGET, "token": token})["success"]
    assert follow(code) == TARGET
    deadline = time.monotonic() + PATIENCE
    while (links := call("showProfile", {"token": token})["data"])[0]["views"] != 1:
        assert time.monotonic() < deadline, links
        time.sleep(0.2)
    print(f"{code} was made, followed and counted once")


main()
