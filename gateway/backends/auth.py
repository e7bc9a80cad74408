"""The client of the auth service, over gRPC."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from atajo.auth.v1 import auth_pb2 as pb
from atajo.auth.v1 import auth_pb2_grpc as pb_grpc
from gateway.backends.owners import Account
from gateway.backends.ports import (
    ApiKey,
    Connection,
    Login,
    OidcLink,
    Passkey,
    Scope,
    Session,
    VerifiedKey,
)
from services.shared.errors import Unavailable
from services.shared.rpc.client import ServiceClient
from services.shared.rpc.fields import enum_numbers, from_message, to_datetime, to_timestamp

PASSWORD_SECONDS = 60.0
"""Timeout of a password check, which may wait in a queue."""
OIDC_SECONDS = 30.0
"""Timeout of a call that makes up to five requests to the provider, each with a deadline of 5 s."""

_SCOPE_NUMBERS = enum_numbers(Scope, pb.Scope)


class AuthClient(ServiceClient["pb_grpc.AuthServiceAsyncStub"]):
    """The auth service: accounts, sessions, recovery codes, passkeys and API keys."""

    service = pb.DESCRIPTOR.services_by_name["AuthService"]
    stub_class = pb_grpc.AuthServiceStub

    async def register(
        self, email: str, password_hash: str, salt: str, username: str, invitation: str = ""
    ) -> None:
        """Create an account. `invitation` is the token of one, or empty.

        Reasons: EMAIL_TAKEN, INVALID_*, REGISTRATION_CLOSED, INVITATION_INVALID.
        """
        request = pb.RegisterRequest(
            email=email,
            password_hash=password_hash,
            salt=salt,
            username=username,
            invitation=invitation,
        )
        await self._call(self._stub.Register, request)

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
        ACCOUNT_SUSPENDED, TOO_MANY_ATTEMPTS.
        """
        request = pb.LoginRequest(
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
        reply = await self._call(self._stub.ListSessions, pb.ListSessionsRequest(token=token))
        return [from_message(Session, session) for session in reply.sessions]

    async def end_session(self, token: str, session_id: str | None) -> None:
        """End a session of a token's account, None for its own. Reason: INVALID_TOKEN."""
        request = pb.EndSessionRequest(token=token, id=session_id or "", current=session_id is None)
        reply = await self._call(self._stub.EndSession, request)
        if request.current and not reply.current_ended:
            raise Unavailable("This version of auth cannot end the session of a token.")

    async def end_other_sessions(self, token: str) -> None:
        """End all sessions of a token's account but its own. Reason: INVALID_TOKEN."""
        await self._call(self._stub.EndOtherSessions, pb.EndOtherSessionsRequest(token=token))

    async def account_of(self, token: str) -> str:
        """Return the account id of a session token. Reason: INVALID_TOKEN."""
        reply = await self._call(self._stub.VerifyToken, pb.VerifyTokenRequest(token=token))
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

        Ends its sessions and deletes its recovery codes; with `revoke`, also its API keys,
        passkeys and connections.

        Returns the token and the expiry of a new session. Reasons: INVALID_TOKEN,
        WRONG_PASSWORD, TOO_MANY_ATTEMPTS, INVALID_PASSWORD_HASH.
        """
        request = pb.ChangePasswordRequest(
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
        return reply.token, to_datetime(reply.expires_at)

    async def close_account(self, token: str, password: str, client_ip: str) -> None:
        """Close the account of a token: end its sessions, and allow no further log-in.

        Reasons: INVALID_TOKEN, WRONG_PASSWORD, TOO_MANY_ATTEMPTS, LAST_ADMINISTRATOR.
        """
        request = pb.CloseOwnAccountRequest(
            token=token, password=password, client_address=client_ip
        )
        await self._call(self._stub.CloseOwnAccount, request, PASSWORD_SECONDS)

    async def create_recovery_codes(self, token: str, password: str, client_ip: str) -> list[str]:
        """Replace the recovery codes of a token's account. Return the new ones.

        Reasons: INVALID_TOKEN, WRONG_PASSWORD, TOO_MANY_ATTEMPTS.
        """
        request = pb.CreateRecoveryCodesRequest(
            token=token, password=password, client_address=client_ip
        )
        reply = await self._call(self._stub.CreateRecoveryCodes, request, PASSWORD_SECONDS)
        return list(reply.codes)

    async def count_recovery_codes(self, token: str) -> tuple[int, datetime | None]:
        """Return how many recovery codes of a token's account are left, and when they were created.

        The time is None if it is not known, or there are none. Reason: INVALID_TOKEN.
        """
        request = pb.CountRecoveryCodesRequest(token=token)
        reply = await self._call(self._stub.CountRecoveryCodes, request)
        created_at = to_datetime(reply.created_at) if reply.HasField("created_at") else None
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

        With `revoke`, delete its API keys, passkeys and connections, too. A code of the operator
        always does, and deletes the recovery codes.

        `device` is as for `login`. Reasons: WRONG_RECOVERY_CODE, TOO_MANY_ATTEMPTS,
        INVALID_PASSWORD_HASH.
        """
        request = pb.ResetPasswordRequest(
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
        request = pb.BeginPasskeyRequest(token=token, password=password, client_address=client_ip)
        reply = await self._call(self._stub.BeginPasskey, request, PASSWORD_SECONDS)
        return reply.options

    async def finish_passkey(self, token: str, name: str, credential: str) -> str:
        """Add the passkey that a browser created. `credential` is its JSON. Return the id.

        Reasons: INVALID_TOKEN, INVALID_PASSKEY_NAME, INVALID_PASSKEY, TOO_MANY_PASSKEYS.
        """
        request = pb.FinishPasskeyRequest(token=token, name=name, credential=credential)
        reply = await self._call(self._stub.FinishPasskey, request)
        return reply.id

    async def passkeys(self, token: str) -> list[Passkey]:
        """Return the passkeys of a token's account, newest first. Reason: INVALID_TOKEN."""
        reply = await self._call(self._stub.ListPasskeys, pb.ListPasskeysRequest(token=token))
        return [from_message(Passkey, passkey) for passkey in reply.passkeys]

    async def remove_passkey(
        self, token: str, passkey_id: str, password: str, client_ip: str
    ) -> None:
        """Remove a passkey of a token's account. May be repeated.

        Reasons: INVALID_TOKEN, WRONG_PASSWORD, TOO_MANY_ATTEMPTS.
        """
        request = pb.RemovePasskeyRequest(
            token=token, id=passkey_id, password=password, client_address=client_ip
        )
        await self._call(self._stub.RemovePasskey, request, PASSWORD_SECONDS)

    async def begin_login(self) -> str:
        """Return the JSON with which a browser logs in with a passkey."""
        reply = await self._call(self._stub.BeginLogin, pb.BeginLoginRequest())
        return reply.options

    async def finish_login(
        self, credential: str, device: str, browser: str = "", system: str = ""
    ) -> Login:
        """Check a browser's answer, `credential` in JSON, and start a session, as `login` does.

        Reasons: NO_PASSKEY, WRONG_PASSKEY, ACCOUNT_SUSPENDED.
        """
        request = pb.FinishLoginRequest(
            credential=credential, device=device, browser=browser, system=system
        )
        reply = await self._call(self._stub.FinishLogin, request)
        return from_message(Login, reply)

    async def confirm_by_password(self, token: str, password: str, client_ip: str) -> None:
        """Confirm the session of a token.

        Reasons: INVALID_TOKEN, WRONG_PASSWORD, TOO_MANY_ATTEMPTS.
        """
        await self._confirm(
            pb.ConfirmSessionRequest(token=token, password=password, client_address=client_ip)
        )

    async def confirm_by_passkey(self, token: str, credential: str, client_ip: str) -> None:
        """Confirm the session of a token by a browser's answer to the options of `begin_login`.

        `credential` is in JSON. Reasons: INVALID_TOKEN, WRONG_PASSKEY, TOO_MANY_ATTEMPTS.
        """
        await self._confirm(
            pb.ConfirmSessionRequest(token=token, credential=credential, client_address=client_ip)
        )

    async def _confirm(self, request: pb.ConfirmSessionRequest) -> None:
        await self._call(self._stub.ConfirmSession, request, PASSWORD_SECONDS)

    async def issue_pass(self, token: str) -> str:
        """Return the pass of an administrator's session, for the calls of AdministrationService.

        It is valid for a minute. Ask for one before each call: then an account that is suspended,
        or is no administrator any more, can do nothing. Reasons: INVALID_TOKEN, NOT_ADMINISTRATOR,
        CONFIRMATION_NEEDED.
        """
        reply = await self._call(self._stub.IssuePass, pb.IssuePassRequest(token=token))
        return reply.administrator_pass

    async def begin_oidc(self, secret: str, token: str) -> str:
        """Return the provider's URL for a log-in, or with a token, to confirm its session.

        Reasons: NO_PROVIDER, PROVIDER_UNAVAILABLE, INVALID_TOKEN.
        """
        request = pb.BeginOidcRequest(secret=secret, token=token)
        return (await self._call(self._stub.BeginOidc, request, OIDC_SECONDS)).url

    async def finish_oidc(
        self,
        code: str,
        state: str,
        issuer: str,
        secret: str,
        token: str = "",
        invitation: str = "",
        device: str = "",
        browser: str = "",
        system: str = "",
    ) -> Login | OidcLink | None:
        """Log in with the provider's response, or with a token, confirm its session: None.

        `issuer` is that of the response, or empty. The others are as for `register` and `login`.

        Reasons: NO_PROVIDER, PROVIDER_UNAVAILABLE, PROVIDER_REFUSED, EMAIL_UNVERIFIED, EMAIL_TAKEN,
        ACCOUNT_SUSPENDED, REGISTRATION_CLOSED, INVITATION_INVALID, INVALID_TOKEN.
        """
        request = pb.FinishOidcRequest(
            code=code,
            state=state,
            issuer=issuer,
            secret=secret,
            token=token,
            invitation=invitation,
            device=device,
            browser=browser,
            system=system,
        )
        reply = await self._call(self._stub.FinishOidc, request, OIDC_SECONDS)
        match reply.WhichOneof("result"):
            case "login":
                return from_message(Login, reply.login)
            case "link":
                return from_message(OidcLink, reply.link)
        return None

    async def link_oidc(
        self,
        link: str,
        secret: str,
        password: str,
        client_ip: str,
        device: str,
        browser: str = "",
        system: str = "",
    ) -> Login:
        """Connect an account by its password, and start a session, as `login` does.

        Reasons: PROVIDER_REFUSED, WRONG_PASSWORD, TOO_MANY_ATTEMPTS, ACCOUNT_SUSPENDED.
        """
        request = pb.LinkOidcRequest(
            link=link,
            secret=secret,
            password=password,
            client_address=client_ip,
            device=device,
            browser=browser,
            system=system,
        )
        reply = await self._call(self._stub.LinkOidc, request, PASSWORD_SECONDS)
        return from_message(Login, reply.login)

    async def connections(self, token: str) -> tuple[bool, list[Connection]]:
        """Return whether a token's account has a password, and its connections, newest first.

        Reason: INVALID_TOKEN.
        """
        reply = await self._call(self._stub.ListConnections, pb.ListConnectionsRequest(token=token))
        found = [from_message(Connection, connection) for connection in reply.connections]
        return reply.has_password, found

    async def remove_connection(
        self, token: str, connection_id: str, password: str, client_ip: str
    ) -> None:
        """Remove a connection of a token's account. May be repeated.

        Reasons: INVALID_TOKEN, WRONG_PASSWORD, CONFIRMATION_NEEDED, TOO_MANY_ATTEMPTS, LAST_LOGIN.
        """
        request = pb.RemoveConnectionRequest(
            token=token, id=connection_id, password=password, client_address=client_ip
        )
        await self._call(self._stub.RemoveConnection, request, PASSWORD_SECONDS)

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
        request = pb.CreateKeyRequest(
            token=token,
            password=password,
            name=name,
            scopes=[_SCOPE_NUMBERS[scope] for scope in scopes],
            expires_at=to_timestamp(expires_at),
            client_address=client_ip,
        )
        reply = await self._call(self._stub.CreateKey, request, PASSWORD_SECONDS)
        return reply.id, reply.key

    async def keys(self, token: str) -> list[ApiKey]:
        """Return the keys of a token's account, newest first. Reason: INVALID_TOKEN."""
        reply = await self._call(self._stub.ListKeys, pb.ListKeysRequest(token=token))
        return [from_message(ApiKey, key) for key in reply.keys]

    async def revoke_key(self, token: str, key_id: str) -> None:
        """Revoke a key of a token's account. May be repeated. Reason: INVALID_TOKEN."""
        await self._call(self._stub.RevokeKey, pb.RevokeKeyRequest(token=token, id=key_id))

    async def verify_key(self, key_hash: bytes) -> VerifiedKey:
        """Return the key with a SHA-256, and note its use. Reason: INVALID_KEY."""
        reply = await self._call(self._stub.VerifyKey, pb.VerifyKeyRequest(key_hash=key_hash))
        return from_message(VerifiedKey, reply, account=Account(reply.account_id))
