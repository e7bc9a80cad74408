"""The gRPC services of auth: they translate between protobuf and use cases."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp
from grpc.aio import ServicerContext

from atajo.auth.v1 import auth_pb2 as pb
from atajo.auth.v1 import auth_pb2_grpc as pb_grpc
from services.auth.application.accounts import AuthService
from services.auth.application.api_keys import ApiKeys
from services.auth.application.passkeys import Passkeys
from services.auth.application.recovery import Recovery
from services.auth.application.sessions import Sessions
from services.auth.domain.api_key import ApiKey, Scope
from services.auth.domain.errors import InvalidExpiry, InvalidScopes
from services.auth.domain.session import Creator
from services.shared.rpc.server import Servicer, Servicers

# The enum of the protocol has the names of the domain's.
_SCOPE_NUMBERS = {scope: pb.Scope.Value(f"SCOPE_{scope.name}") for scope in Scope}
_SCOPES = {number: scope for scope, number in _SCOPE_NUMBERS.items()}


class AuthServicer(pb_grpc.AuthServiceServicer):
    """Serves the gateways."""

    def __init__(
        self,
        service: AuthService,
        recovery: Recovery,
        passkeys: Passkeys,
        keys: ApiKeys,
        sessions: Sessions,
    ) -> None:
        self._service = service
        self._recovery = recovery
        self._passkeys = passkeys
        self._keys = keys
        self._sessions = sessions

    async def Register(
        self, request: pb.RegisterRequest, context: ServicerContext[Any, Any]
    ) -> pb.RegisterResponse:
        account = await self._service.register(
            request.email, request.password_hash, request.salt, request.username
        )
        return pb.RegisterResponse(account_id=account.id)

    async def Login(
        self, request: pb.LoginRequest, context: ServicerContext[Any, Any]
    ) -> pb.LoginResponse:
        login = await self._service.login(
            request.email,
            request.password,
            request.client_address,
            request.device,
            request.browser,
            request.system,
        )
        response = pb.LoginResponse(
            token=login.token, username=login.username, device=login.device_token
        )
        response.expires_at.FromDatetime(login.expires_at)
        return response

    async def VerifyToken(
        self, request: pb.VerifyTokenRequest, context: ServicerContext[Any, Any]
    ) -> pb.VerifyTokenResponse:
        account_id = await self._service.verify_token(request.token)
        return pb.VerifyTokenResponse(account_id=account_id)

    async def ListSessions(
        self, request: pb.ListSessionsRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListSessionsResponse:
        sessions, current = await self._sessions.list_all(request.token)
        response = pb.ListSessionsResponse()
        for session in sessions:
            message = response.sessions.add(
                id=session.id,
                browser=session.browser,
                system=session.system,
                current=session.id == current,
            )
            message.created_at.FromDatetime(session.created_at)
            message.last_seen_at.FromDatetime(session.last_seen_at)
        return response

    async def EndSession(
        self, request: pb.EndSessionRequest, context: ServicerContext[Any, Any]
    ) -> pb.EndSessionResponse:
        await self._sessions.end(request.token, None if request.current else request.id)
        return pb.EndSessionResponse(current_ended=request.current)

    async def EndOtherSessions(
        self, request: pb.EndOtherSessionsRequest, context: ServicerContext[Any, Any]
    ) -> pb.EndOtherSessionsResponse:
        await self._sessions.end_others(request.token)
        return pb.EndOtherSessionsResponse()

    async def CreateRecoveryCodes(
        self, request: pb.CreateRecoveryCodesRequest, context: ServicerContext[Any, Any]
    ) -> pb.CreateRecoveryCodesResponse:
        codes = await self._recovery.create_codes(
            request.token, request.password, request.client_address
        )
        return pb.CreateRecoveryCodesResponse(codes=codes)

    async def CountRecoveryCodes(
        self, request: pb.CountRecoveryCodesRequest, context: ServicerContext[Any, Any]
    ) -> pb.CountRecoveryCodesResponse:
        left, created_at = await self._recovery.count_codes(request.token)
        response = pb.CountRecoveryCodesResponse(left=left)
        if created_at is not None:
            response.created_at.FromDatetime(created_at)
        return response

    async def ResetPassword(
        self, request: pb.ResetPasswordRequest, context: ServicerContext[Any, Any]
    ) -> pb.ResetPasswordResponse:
        await self._recovery.reset_password(
            request.email,
            request.recovery_code,
            request.new_password_hash,
            request.new_salt,
            request.client_address,
            request.device,
            request.revoke,
        )
        return pb.ResetPasswordResponse()

    async def BeginPasskey(
        self, request: pb.BeginPasskeyRequest, context: ServicerContext[Any, Any]
    ) -> pb.BeginPasskeyResponse:
        options = await self._passkeys.begin(
            request.token, request.password, request.client_address
        )
        return pb.BeginPasskeyResponse(options=options)

    async def FinishPasskey(
        self, request: pb.FinishPasskeyRequest, context: ServicerContext[Any, Any]
    ) -> pb.FinishPasskeyResponse:
        passkey = await self._passkeys.finish(request.token, request.name, request.credential)
        return pb.FinishPasskeyResponse(id=passkey.id)

    async def ListPasskeys(
        self, request: pb.ListPasskeysRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListPasskeysResponse:
        response = pb.ListPasskeysResponse()
        for passkey in await self._passkeys.list_all(request.token):
            message = response.passkeys.add(
                id=passkey.id, name=passkey.name, created_by=_creator_message(passkey.created_by)
            )
            message.created_at.FromDatetime(passkey.created_at)
            if passkey.last_used_at is not None:
                message.last_used_at.FromDatetime(passkey.last_used_at)
        return response

    async def RemovePasskey(
        self, request: pb.RemovePasskeyRequest, context: ServicerContext[Any, Any]
    ) -> pb.RemovePasskeyResponse:
        await self._passkeys.remove(
            request.token, request.id, request.password, request.client_address
        )
        return pb.RemovePasskeyResponse()

    async def BeginLogin(
        self, request: pb.BeginLoginRequest, context: ServicerContext[Any, Any]
    ) -> pb.BeginLoginResponse:
        return pb.BeginLoginResponse(options=self._passkeys.begin_login())

    async def FinishLogin(
        self, request: pb.FinishLoginRequest, context: ServicerContext[Any, Any]
    ) -> pb.FinishLoginResponse:
        login = await self._passkeys.finish_login(
            request.credential, request.device, request.browser, request.system
        )
        response = pb.FinishLoginResponse(
            token=login.token, username=login.username, device=login.device_token
        )
        response.expires_at.FromDatetime(login.expires_at)
        return response

    async def CreateKey(
        self, request: pb.CreateKeyRequest, context: ServicerContext[Any, Any]
    ) -> pb.CreateKeyResponse:
        expires_at = _datetime(request.expires_at) if request.HasField("expires_at") else None
        key, text = await self._keys.create(
            request.token,
            request.password,
            request.name,
            _scopes(request.scopes),
            expires_at,
            request.client_address,
        )
        return pb.CreateKeyResponse(id=key.id, key=text)

    async def ListKeys(
        self, request: pb.ListKeysRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListKeysResponse:
        keys = await self._keys.list_all(request.token)
        return pb.ListKeysResponse(keys=map(_key_message, keys))

    async def RevokeKey(
        self, request: pb.RevokeKeyRequest, context: ServicerContext[Any, Any]
    ) -> pb.RevokeKeyResponse:
        await self._keys.revoke(request.token, request.id)
        return pb.RevokeKeyResponse()

    async def VerifyKey(
        self, request: pb.VerifyKeyRequest, context: ServicerContext[Any, Any]
    ) -> pb.VerifyKeyResponse:
        key, account = await self._keys.verify(request.key_hash)
        response = pb.VerifyKeyResponse(
            id=key.id,
            account_id=account.id,
            username=account.username,
            name=key.name,
            scopes=[_SCOPE_NUMBERS[scope] for scope in key.scopes],
        )
        if key.expires_at is not None:
            response.expires_at.FromDatetime(key.expires_at)
        return response

    async def ChangePassword(
        self, request: pb.ChangePasswordRequest, context: ServicerContext[Any, Any]
    ) -> pb.ChangePasswordResponse:
        token, expires_at = await self._service.change_password(
            request.token,
            request.password,
            request.new_password_hash,
            request.new_salt,
            request.client_address,
            request.browser,
            request.system,
            request.revoke,
        )
        response = pb.ChangePasswordResponse(token=token)
        response.expires_at.FromDatetime(expires_at)
        return response

    async def CloseOwnAccount(
        self, request: pb.CloseOwnAccountRequest, context: ServicerContext[Any, Any]
    ) -> pb.CloseOwnAccountResponse:
        await self._service.close_own(request.token, request.password, request.client_address)
        return pb.CloseOwnAccountResponse()


class AdminServicer(pb_grpc.AdminServiceServicer):
    """Serves the operator's command and the reconciler."""

    def __init__(self, service: AuthService, recovery: Recovery) -> None:
        self._service = service
        self._recovery = recovery

    async def CloseAccount(
        self, request: pb.CloseAccountRequest, context: ServicerContext[Any, Any]
    ) -> pb.CloseAccountResponse:
        return pb.CloseAccountResponse(account_id=await self._service.close(request.email))

    async def FindAccount(
        self, request: pb.FindAccountRequest, context: ServicerContext[Any, Any]
    ) -> pb.FindAccountResponse:
        return pb.FindAccountResponse(account_id=await self._service.find(request.email))

    async def CreateResetCode(
        self, request: pb.CreateResetCodeRequest, context: ServicerContext[Any, Any]
    ) -> pb.CreateResetCodeResponse:
        code, expires_at, account_id = await self._recovery.create_reset_code(request.email)
        response = pb.CreateResetCodeResponse(code=code, account_id=account_id)
        response.expires_at.FromDatetime(expires_at)
        return response

    async def ListClosedAccounts(
        self, request: pb.ListClosedAccountsRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListClosedAccountsResponse:
        return pb.ListClosedAccountsResponse(account_ids=await self._service.list_closed())

    async def RemoveAccount(
        self, request: pb.RemoveAccountRequest, context: ServicerContext[Any, Any]
    ) -> pb.RemoveAccountResponse:
        await self._service.remove(request.account_id)
        return pb.RemoveAccountResponse()


def _scopes(numbers: Iterable[pb.Scope.ValueType]) -> list[Scope]:
    """Return scopes by number. Raises InvalidScopes."""
    try:
        return [_SCOPES[number] for number in numbers]
    except KeyError:
        raise InvalidScopes("There is no such scope.") from None


def _datetime(message: Timestamp) -> datetime:
    """Return a time in UTC. Raises InvalidExpiry if it is not within the years 1 to 9999."""
    try:
        return message.ToDatetime(UTC)
    except (ValueError, OverflowError):
        raise InvalidExpiry("A key must expire within the years 1 to 9999.") from None


def _key_message(key: ApiKey) -> pb.Key:
    message = pb.Key(
        id=key.id,
        name=key.name,
        prefix=key.prefix,
        scopes=[_SCOPE_NUMBERS[scope] for scope in key.scopes],
        created_by=_creator_message(key.created_by),
    )
    message.created_at.FromDatetime(key.created_at)
    if key.expires_at is not None:
        message.expires_at.FromDatetime(key.expires_at)
    if key.last_used_at is not None:
        message.last_used_at.FromDatetime(key.last_used_at)
    return message


def _creator_message(creator: Creator | None) -> pb.Creator | None:
    if creator is None:
        return None
    message = pb.Creator(id=creator.id, browser=creator.browser, system=creator.system)
    message.created_at.FromDatetime(creator.created_at)
    return message


def servicers(
    service: AuthService,
    recovery: Recovery,
    passkeys: Passkeys,
    keys: ApiKeys,
    sessions: Sessions,
) -> Servicers:
    """Return the gRPC services of the process."""
    return Servicers(
        calls=Servicer.of(
            pb.DESCRIPTOR,
            "AuthService",
            pb_grpc.add_AuthServiceServicer_to_server,
            AuthServicer(service, recovery, passkeys, keys, sessions),
        ),
        admin=[
            Servicer.of(
                pb.DESCRIPTOR,
                "AdminService",
                pb_grpc.add_AdminServiceServicer_to_server,
                AdminServicer(service, recovery),
            )
        ],
    )
