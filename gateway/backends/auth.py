"""The client of the auth service, over gRPC."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from atajo.auth.v1 import auth_pb2, auth_pb2_grpc
from gateway.backends.owners import Account
from gateway.backends.ports import ApiKey, Creator, Login, Passkey, Scope, Session, VerifiedKey
from services.shared.errors import Unavailable
from services.shared.rpc.client import ServiceClient
from services.shared.rpc.fields import datetime_of, from_message

CALL_SECONDS = 5.0
PASSWORD_SECONDS = 60.0
"""Timeout of a password check, which may wait in a queue."""

# The enum of the protocol has the names of the gateway's.
_SCOPE_NUMBERS = {one: auth_pb2.Scope.Value(f"SCOPE_{one.name}") for one in Scope}
_SCOPES = {number: scope for scope, number in _SCOPE_NUMBERS.items()}


class AuthClient(ServiceClient["auth_pb2_grpc.AuthServiceAsyncStub"]):
    """The auth service: accounts, sessions, recovery codes, passkeys and API keys."""

    def __init__(self, address: str) -> None:
        service = auth_pb2.DESCRIPTOR.services_by_name["AuthService"]
        super().__init__(address, service, auth_pb2_grpc.AuthServiceStub)

    async def register(self, email: str, password_hash: str, salt: str, username: str) -> None:
        """Create an account. Reasons: EMAIL_TAKEN, INVALID_*."""
        request = auth_pb2.RegisterRequest(
            email=email, password_hash=password_hash, salt=salt, username=username
        )
        await self._call(self._stub.Register, request, CALL_SECONDS)

    async def login(
        self,
        email: str,
        password: str,
        client_ip: str,
        device: str,
        browser: str = "",
        system: str = "",
    ) -> Login:
        """Check a password, and start a session.

        `device` is the browser's device token, or empty. `browser` and `system` are names for the
        list of sessions, empty if unknown. Reasons: NO_ACCOUNT, WRONG_PASSWORD,
        TOO_MANY_ATTEMPTS.
        """
        request = auth_pb2.LoginRequest(
            email=email,
            password=password,
            client_address=client_ip,
            device=device,
            browser=browser,
            system=system,
        )
        reply = await self._call(self._stub.Login, request, PASSWORD_SECONDS)
        return from_message(Login, reply)

    async def sessions(self, token: str) -> list[Session]:
        """Return the sessions of a token's account, newest first. Reason: INVALID_TOKEN."""
        request = auth_pb2.ListSessionsRequest(token=token)
        reply = await self._call(self._stub.ListSessions, request, CALL_SECONDS)
        return [from_message(Session, session) for session in reply.sessions]

    async def end_session(self, token: str, session_id: str | None) -> None:
        """End a session of a token's account, None for its own. Reason: INVALID_TOKEN."""
        request = auth_pb2.EndSessionRequest(
            token=token, id=session_id or "", current=session_id is None
        )
        reply = await self._call(self._stub.EndSession, request, CALL_SECONDS)
        if request.current and not reply.current_ended:
            raise Unavailable("This version of auth cannot end the session of a token.")

    async def end_other_sessions(self, token: str) -> None:
        """End all sessions of a token's account but its own. Reason: INVALID_TOKEN."""
        request = auth_pb2.EndOtherSessionsRequest(token=token)
        await self._call(self._stub.EndOtherSessions, request, CALL_SECONDS)

    async def account_of(self, token: str) -> str:
        """Return the account id of a session token. Reason: INVALID_TOKEN."""
        request = auth_pb2.VerifyTokenRequest(token=token)
        reply = await self._call(self._stub.VerifyToken, request, CALL_SECONDS)
        return reply.account_id

    async def change_password(
        self,
        token: str,
        password: str,
        new_hash: str,
        new_salt: str,
        client_ip: str,
        browser: str = "",
        system: str = "",
        revoke: bool = False,
    ) -> tuple[str, datetime]:
        """Change the password of a token's account.

        Ends its sessions and deletes its recovery codes; with `revoke`, also its API keys and
        passkeys.

        Returns the token and the expiry of a new session. Reasons: INVALID_TOKEN,
        WRONG_PASSWORD, TOO_MANY_ATTEMPTS, INVALID_PASSWORD_HASH.
        """
        request = auth_pb2.ChangePasswordRequest(
            token=token,
            password=password,
            new_password_hash=new_hash,
            new_salt=new_salt,
            client_address=client_ip,
            browser=browser,
            system=system,
            revoke=revoke,
        )
        reply = await self._call(self._stub.ChangePassword, request, PASSWORD_SECONDS)
        return reply.token, datetime_of(reply.expires_at)

    async def close_account(self, token: str, password: str, client_ip: str) -> None:
        """Close the account of a token: end its sessions, and allow no further log-in.

        Reasons: INVALID_TOKEN, WRONG_PASSWORD, TOO_MANY_ATTEMPTS.
        """
        request = auth_pb2.CloseOwnAccountRequest(
            token=token, password=password, client_address=client_ip
        )
        await self._call(self._stub.CloseOwnAccount, request, PASSWORD_SECONDS)

    async def create_recovery_codes(self, token: str, password: str, client_ip: str) -> list[str]:
        """Replace the recovery codes of a token's account. Return the new ones.

        Reasons: INVALID_TOKEN, WRONG_PASSWORD, TOO_MANY_ATTEMPTS.
        """
        request = auth_pb2.CreateRecoveryCodesRequest(
            token=token, password=password, client_address=client_ip
        )
        reply = await self._call(self._stub.CreateRecoveryCodes, request, PASSWORD_SECONDS)
        return list(reply.codes)

    async def count_recovery_codes(self, token: str) -> tuple[int, datetime | None]:
        """Return how many recovery codes of a token's account are left, and when they were created.

        The time is None if it is not known, or there are none. Reason: INVALID_TOKEN.
        """
        request = auth_pb2.CountRecoveryCodesRequest(token=token)
        reply = await self._call(self._stub.CountRecoveryCodes, request, CALL_SECONDS)
        created_at = datetime_of(reply.created_at) if reply.HasField("created_at") else None
        return reply.left, created_at

    async def reset_password(
        self,
        email: str,
        recovery_code: str,
        new_hash: str,
        new_salt: str,
        client_ip: str,
        device: str,
        revoke: bool = False,
    ) -> None:
        """Set the password of an account by a recovery code, and end its sessions.

        With `revoke`, delete its API keys and passkeys, too. A code of the operator always does,
        and deletes the recovery codes.

        `device` is as for `login`. Reasons: WRONG_RECOVERY_CODE, TOO_MANY_ATTEMPTS,
        INVALID_PASSWORD_HASH.
        """
        request = auth_pb2.ResetPasswordRequest(
            email=email,
            recovery_code=recovery_code,
            new_password_hash=new_hash,
            new_salt=new_salt,
            client_address=client_ip,
            device=device,
            revoke=revoke,
        )
        await self._call(self._stub.ResetPassword, request, PASSWORD_SECONDS)

    async def begin_passkey(self, token: str, password: str, client_ip: str) -> str:
        """Return the JSON with which a browser creates a passkey of a token's account.

        Reasons: INVALID_TOKEN, WRONG_PASSWORD, TOO_MANY_ATTEMPTS, TOO_MANY_PASSKEYS.
        """
        request = auth_pb2.BeginPasskeyRequest(
            token=token, password=password, client_address=client_ip
        )
        reply = await self._call(self._stub.BeginPasskey, request, PASSWORD_SECONDS)
        return reply.options

    async def finish_passkey(self, token: str, name: str, credential: str) -> str:
        """Add the passkey that a browser created. `credential` is its JSON. Return the id.

        Reasons: INVALID_TOKEN, INVALID_PASSKEY_NAME, INVALID_PASSKEY, TOO_MANY_PASSKEYS.
        """
        request = auth_pb2.FinishPasskeyRequest(token=token, name=name, credential=credential)
        reply = await self._call(self._stub.FinishPasskey, request, CALL_SECONDS)
        return reply.id

    async def passkeys(self, token: str) -> list[Passkey]:
        """Return the passkeys of a token's account, newest first. Reason: INVALID_TOKEN."""
        request = auth_pb2.ListPasskeysRequest(token=token)
        reply = await self._call(self._stub.ListPasskeys, request, CALL_SECONDS)
        return [
            from_message(Passkey, passkey, created_by=_parse_creator(passkey))
            for passkey in reply.passkeys
        ]

    async def remove_passkey(
        self, token: str, passkey_id: str, password: str, client_ip: str
    ) -> None:
        """Remove a passkey of a token's account. May be repeated.

        Reasons: INVALID_TOKEN, WRONG_PASSWORD, TOO_MANY_ATTEMPTS.
        """
        request = auth_pb2.RemovePasskeyRequest(
            token=token, id=passkey_id, password=password, client_address=client_ip
        )
        await self._call(self._stub.RemovePasskey, request, PASSWORD_SECONDS)

    async def begin_login(self) -> str:
        """Return the JSON with which a browser logs in with a passkey."""
        request = auth_pb2.BeginLoginRequest()
        reply = await self._call(self._stub.BeginLogin, request, CALL_SECONDS)
        return reply.options

    async def finish_login(
        self, credential: str, device: str, browser: str = "", system: str = ""
    ) -> Login:
        """Check a browser's answer, `credential` in JSON, and start a session, as `login` does.

        Reasons: NO_PASSKEY, WRONG_PASSKEY.
        """
        request = auth_pb2.FinishLoginRequest(
            credential=credential, device=device, browser=browser, system=system
        )
        reply = await self._call(self._stub.FinishLogin, request, CALL_SECONDS)
        return from_message(Login, reply)

    async def create_key(
        self,
        token: str,
        password: str,
        name: str,
        scopes: Sequence[Scope],
        expires_at: datetime | None,
        client_ip: str,
    ) -> tuple[str, str]:
        """Create an API key of a token's account. Return its id and the key.

        Reasons: INVALID_TOKEN, WRONG_PASSWORD, TOO_MANY_ATTEMPTS, INVALID_KEY_NAME,
        INVALID_SCOPES, INVALID_EXPIRY, TOO_MANY_KEYS.
        """
        request = auth_pb2.CreateKeyRequest(
            token=token,
            password=password,
            name=name,
            scopes=[_SCOPE_NUMBERS[scope] for scope in scopes],
            client_address=client_ip,
        )
        if expires_at is not None:
            request.expires_at.FromDatetime(expires_at)
        reply = await self._call(self._stub.CreateKey, request, PASSWORD_SECONDS)
        return reply.id, reply.key

    async def keys(self, token: str) -> list[ApiKey]:
        """Return the keys of a token's account, newest first. Reason: INVALID_TOKEN."""
        request = auth_pb2.ListKeysRequest(token=token)
        reply = await self._call(self._stub.ListKeys, request, CALL_SECONDS)
        return [
            from_message(
                ApiKey, key, scopes=tuple(_parse_scopes(key.scopes)), created_by=_parse_creator(key)
            )
            for key in reply.keys
        ]

    async def revoke_key(self, token: str, key_id: str) -> None:
        """Revoke a key of a token's account. May be repeated. Reason: INVALID_TOKEN."""
        request = auth_pb2.RevokeKeyRequest(token=token, id=key_id)
        await self._call(self._stub.RevokeKey, request, CALL_SECONDS)

    async def verify_key(self, key_hash: bytes) -> VerifiedKey:
        """Return the key with a SHA-256, and note its use. Reason: INVALID_KEY."""
        request = auth_pb2.VerifyKeyRequest(key_hash=key_hash)
        reply = await self._call(self._stub.VerifyKey, request, CALL_SECONDS)
        scopes = frozenset(_parse_scopes(reply.scopes))
        return from_message(VerifiedKey, reply, account=Account(reply.account_id), scopes=scopes)


def _parse_creator(message: auth_pb2.Key | auth_pb2.Passkey) -> Creator | None:
    has_creator = message.HasField("created_by")
    return from_message(Creator, message.created_by) if has_creator else None


def _parse_scopes(numbers: Iterable[auth_pb2.Scope.ValueType]) -> list[Scope]:
    """Return scopes by number. Ignores those that only a later version knows."""
    return [_SCOPES[number] for number in numbers if number in _SCOPES]
