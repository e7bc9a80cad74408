"""listSessions, endSession and endOtherSessions: functions of an account's sessions."""

from __future__ import annotations

from starlette.requests import Request

from gateway.functions.owner import SessionPayload
from gateway.functions.protocol import Reply, Text
from gateway.use_cases.json_values import to_json
from gateway.use_cases.services import Services


class EndSession(SessionPayload):
    """`id` may be any text. An invalid id has no session. Without one, the session of the token
    ends.
    """

    id: Text | None = None


async def list_sessions(services: Services, payload: SessionPayload, request: Request) -> Reply:
    return {"sessions": to_json(await services.auth.sessions(payload.session_token()))}


async def end_session(services: Services, payload: EndSession, request: Request) -> None:
    await services.auth.end_session(payload.session_token(), payload.id)


async def end_other_sessions(services: Services, payload: SessionPayload, request: Request) -> None:
    await services.auth.end_other_sessions(payload.session_token())
