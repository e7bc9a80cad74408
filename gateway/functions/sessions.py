"""listSessions, endSession and endOtherSessions: functions of an account's sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from gateway.backends.auth import AuthClient
from gateway.backends.ports import Creator
from gateway.functions.outcomes import Reply
from gateway.functions.owner import Token, session_token
from gateway.functions.protocol import Payload, Text
from gateway.support.timestamps import text_of


class ListSessions(Payload):
    token: Token = None


class EndSession(Payload):
    """`id` may be any text. An invalid id has no session. Without one, the session of the token
    ends.
    """

    token: Token = None
    id: Text | None = None


class EndOtherSessions(Payload):
    token: Token = None


@dataclass(frozen=True)
class Sessions:
    """Handlers of the functions. Each returns the `data` of the response."""

    auth: AuthClient

    async def list_sessions(self, payload: ListSessions, request: Request) -> Reply:
        sessions = await self.auth.sessions(session_token(payload.token))
        return {
            "success": True,
            "sessions": [
                {
                    "id": session.id,
                    "created_at": text_of(session.created_at),
                    "last_seen_at": text_of(session.last_seen_at),
                    "browser": session.browser,
                    "system": session.system,
                    "current": session.current,
                }
                for session in sessions
            ],
        }

    async def end_session(self, payload: EndSession, request: Request) -> Reply:
        await self.auth.end_session(session_token(payload.token), payload.id)
        return {"success": True}

    async def end_other_sessions(self, payload: EndOtherSessions, request: Request) -> Reply:
        await self.auth.end_other_sessions(session_token(payload.token))
        return {"success": True}


def creator_json(creator: Creator | None) -> dict[str, Any] | None:
    """Return the session that created something, null if it is not known."""
    if creator is None:
        return None
    return {
        "id": creator.id,
        "created_at": text_of(creator.created_at),
        "browser": creator.browser,
        "system": creator.system,
    }
