"""The gRPC services of auth: they translate between protobuf and use cases."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from atajo.auth.v1 import auth_pb2 as pb
from services.auth.application.accounts import AuthService
from services.auth.application.administration import Administration
from services.auth.application.api_keys import ApiKeys
from services.auth.application.confirmations import Confirmations
from services.auth.application.invitations import Invitations
from services.auth.application.oidc import Browser, Link, OidcLogins
from services.auth.application.passkeys import Passkeys
from services.auth.application.recovery import Recovery
from services.auth.application.registrations import Registrations
from services.auth.application.sessions import Login, Sessions
from services.auth.domain.account import Role
from services.auth.domain.api_key import Scope
from services.auth.domain.errors import InvalidExpiry, InvalidScopes
from services.shared.errors import InvalidArgument
from services.shared.rpc.fields import TIME_ERRORS, enum_members, to_message, to_timestamp
from services.shared.stores import Store

_SCOPES = enum_members(Scope, pb.Scope)
_ROLES = enum_members(Role, pb.Role)


class _WithPass(Protocol):
    """A request of an administrator."""

    @property
    def administrator_pass(self) -> str: ...


@dataclass(frozen=True)
class AuthServicer:
    """Serves the gateways."""

    service = pb.DESCRIPTOR.services_by_name["AuthService"]

    _registrations: Registrations
    _service: AuthService
    _recovery: Recovery
    _passkeys: Passkeys
    _keys: ApiKeys
    _sessions: Sessions
    _confirmations: Confirmations
    _oidc: OidcLogins

    async def Register(self, request: pb.RegisterRequest) -> pb.RegisterResponse:
        account = await self._registrations.register(
            request.email,
            request.password_hash,
            request.salt,
            request.username,
            request.invitation,
        )
        return pb.RegisterResponse(account_id=account.id)

    async def Login(self, request: pb.LoginRequest) -> pb.LoginResponse:
        login = await self._service.login(
            request.email,
            request.password,
            request.client_address,
            request.device,
            request.browser,
            request.system,
        )
        return _to_login(login)

    async def VerifyToken(self, request: pb.VerifyTokenRequest) -> pb.VerifyTokenResponse:
        account = await self._service.verify_token(request.token)
        return to_message(pb.VerifyTokenResponse, account, account_id=account.id)

    async def ListSessions(self, request: pb.ListSessionsRequest) -> pb.ListSessionsResponse:
        sessions, current = await self._sessions.list_all(request.token)
        messages = [
            to_message(pb.Session, session, current=session.id == current) for session in sessions
        ]
        return pb.ListSessionsResponse(sessions=messages)

    async def EndSession(self, request: pb.EndSessionRequest) -> pb.EndSessionResponse:
        await self._sessions.end(request.token, None if request.current else request.id)
        return pb.EndSessionResponse(current_ended=request.current)

    async def EndOtherSessions(
        self, request: pb.EndOtherSessionsRequest
    ) -> pb.EndOtherSessionsResponse:
        await self._sessions.end_others(request.token)
        return pb.EndOtherSessionsResponse()

    async def CreateRecoveryCodes(
        self, request: pb.CreateRecoveryCodesRequest
    ) -> pb.CreateRecoveryCodesResponse:
        codes = await self._recovery.create_codes(
            request.token, request.password, request.client_address
        )
        return pb.CreateRecoveryCodesResponse(codes=codes)

    async def CountRecoveryCodes(
        self, request: pb.CountRecoveryCodesRequest
    ) -> pb.CountRecoveryCodesResponse:
        left, created_at = await self._recovery.count_codes(request.token)
        return pb.CountRecoveryCodesResponse(left=left, created_at=to_timestamp(created_at))

    async def ResetPassword(self, request: pb.ResetPasswordRequest) -> pb.ResetPasswordResponse:
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

    async def BeginPasskey(self, request: pb.BeginPasskeyRequest) -> pb.BeginPasskeyResponse:
        options = await self._passkeys.begin(
            request.token, request.password, request.client_address
        )
        return pb.BeginPasskeyResponse(options=options)

    async def FinishPasskey(self, request: pb.FinishPasskeyRequest) -> pb.FinishPasskeyResponse:
        passkey = await self._passkeys.finish(request.token, request.name, request.credential)
        return pb.FinishPasskeyResponse(id=passkey.id)

    async def ListPasskeys(self, request: pb.ListPasskeysRequest) -> pb.ListPasskeysResponse:
        passkeys = await self._passkeys.list_all(request.token)
        messages = [to_message(pb.Passkey, passkey) for passkey in passkeys]
        return pb.ListPasskeysResponse(passkeys=messages)

    async def RemovePasskey(self, request: pb.RemovePasskeyRequest) -> pb.RemovePasskeyResponse:
        await self._passkeys.remove(
            request.token, request.id, request.password, request.client_address
        )
        return pb.RemovePasskeyResponse()

    async def BeginLogin(self, request: pb.BeginLoginRequest) -> pb.BeginLoginResponse:
        return pb.BeginLoginResponse(options=await self._passkeys.begin_login())

    async def FinishLogin(self, request: pb.FinishLoginRequest) -> pb.FinishLoginResponse:
        login = await self._passkeys.finish_login(
            request.credential, request.device, request.browser, request.system
        )
        return to_message(pb.FinishLoginResponse, login, device=login.device_token)

    async def ConfirmSession(self, request: pb.ConfirmSessionRequest) -> pb.ConfirmSessionResponse:
        token, client_ip = request.token, request.client_address
        match request.WhichOneof("proof"):
            case "password":
                await self._confirmations.confirm_by_password(token, request.password, client_ip)
            case "credential":
                await self._confirmations.confirm_by_passkey(token, request.credential, client_ip)
            case None:
                raise InvalidArgument("A password or a passkey is needed.", "NO_PROOF")
        return pb.ConfirmSessionResponse()

    async def IssuePass(self, request: pb.IssuePassRequest) -> pb.IssuePassResponse:
        given = await self._confirmations.issue_pass(request.token)
        return pb.IssuePassResponse(administrator_pass=given)

    async def BeginOidc(self, request: pb.BeginOidcRequest) -> pb.BeginOidcResponse:
        return pb.BeginOidcResponse(url=await self._oidc.begin(request.secret, request.token))

    async def FinishOidc(self, request: pb.FinishOidcRequest) -> pb.FinishOidcResponse:
        response = request.code, request.state, request.issuer
        if request.token:
            await self._oidc.confirm(*response, request.secret, request.token)
            return pb.FinishOidcResponse()
        result = await self._oidc.finish(*response, _parse_browser(request), request.invitation)
        if isinstance(result, Link):
            return pb.FinishOidcResponse(link=to_message(pb.OidcLink, result))
        return pb.FinishOidcResponse(login=_to_login(result))

    async def LinkOidc(self, request: pb.LinkOidcRequest) -> pb.LinkOidcResponse:
        login = await self._oidc.link(
            request.link, request.password, request.client_address, _parse_browser(request)
        )
        return pb.LinkOidcResponse(login=_to_login(login))

    async def ListConnections(
        self, request: pb.ListConnectionsRequest
    ) -> pb.ListConnectionsResponse:
        has_password, connections = await self._oidc.list_all(request.token)
        messages = [to_message(pb.Connection, connection) for connection in connections]
        return pb.ListConnectionsResponse(has_password=has_password, connections=messages)

    async def RemoveConnection(
        self, request: pb.RemoveConnectionRequest
    ) -> pb.RemoveConnectionResponse:
        await self._oidc.remove(request.token, request.id, request.password, request.client_address)
        return pb.RemoveConnectionResponse()

    async def CreateKey(self, request: pb.CreateKeyRequest) -> pb.CreateKeyResponse:
        key, text = await self._keys.create(
            request.token,
            request.password,
            request.name,
            _parse_scopes(request.scopes),
            _parse_expiry(request),
            request.client_address,
        )
        return pb.CreateKeyResponse(id=key.id, key=text)

    async def ListKeys(self, request: pb.ListKeysRequest) -> pb.ListKeysResponse:
        keys = await self._keys.list_all(request.token)
        return pb.ListKeysResponse(keys=[to_message(pb.Key, key) for key in keys])

    async def RevokeKey(self, request: pb.RevokeKeyRequest) -> pb.RevokeKeyResponse:
        await self._keys.revoke(request.token, request.id)
        return pb.RevokeKeyResponse()

    async def VerifyKey(self, request: pb.VerifyKeyRequest) -> pb.VerifyKeyResponse:
        key, account = await self._keys.verify(request.key_hash)
        return to_message(pb.VerifyKeyResponse, key, username=account.username)

    async def ChangePassword(self, request: pb.ChangePasswordRequest) -> pb.ChangePasswordResponse:
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
        return pb.ChangePasswordResponse(token=token, expires_at=to_timestamp(expires_at))

    async def CloseOwnAccount(
        self, request: pb.CloseOwnAccountRequest
    ) -> pb.CloseOwnAccountResponse:
        await self._service.close_own(request.token, request.password, request.client_address)
        return pb.CloseOwnAccountResponse()


@dataclass(frozen=True)
class AdministrationServicer:
    """Serves administrators, through the gateways."""

    service = pb.DESCRIPTOR.services_by_name["AdministrationService"]

    _administration: Administration
    _invitations: Invitations
    _recovery: Recovery
    _store: Store

    async def ListAccounts(self, request: pb.ListAccountsRequest) -> pb.ListAccountsResponse:
        await self._authorize(request)
        accounts, cursor = await self._administration.list_accounts(request.query, request.cursor)
        messages = [to_message(pb.AdministeredAccount, account) for account in accounts]
        return pb.ListAccountsResponse(accounts=messages, cursor=cursor)

    async def ChangeAccount(self, request: pb.ChangeAccountRequest) -> pb.ChangeAccountResponse:
        by = await self._authorize(request)
        suspended = request.suspended if request.HasField("suspended") else None
        role = _parse_role(request.role) if request.HasField("role") else None
        changed = await self._administration.change_account(request.id, suspended, role, by)
        return pb.ChangeAccountResponse(account=to_message(pb.AdministeredAccount, changed))

    async def EndAccountSessions(
        self, request: pb.EndAccountSessionsRequest
    ) -> pb.EndAccountSessionsResponse:
        by = await self._authorize(request)
        await self._administration.end_sessions(request.id, by)
        return pb.EndAccountSessionsResponse()

    async def CreateAccountResetCode(
        self, request: pb.CreateAccountResetCodeRequest
    ) -> pb.CreateAccountResetCodeResponse:
        by = await self._authorize(request)
        code, expires_at, email = await self._recovery.create_account_reset_code(request.id, by)
        return pb.CreateAccountResetCodeResponse(
            code=code, expires_at=to_timestamp(expires_at), email=email
        )

    async def CreateInvitation(
        self, request: pb.CreateInvitationRequest
    ) -> pb.CreateInvitationResponse:
        by = await self._authorize(request)
        invitation, token = await self._invitations.create(
            request.email, _parse_role(request.role), by
        )
        return to_message(pb.CreateInvitationResponse, invitation, token=token)

    async def ListInvitations(
        self, request: pb.ListInvitationsRequest
    ) -> pb.ListInvitationsResponse:
        await self._authorize(request)
        invitations = await self._invitations.list_all()
        messages = [to_message(pb.Invitation, invitation) for invitation in invitations]
        return pb.ListInvitationsResponse(invitations=messages)

    async def RevokeInvitation(
        self, request: pb.RevokeInvitationRequest
    ) -> pb.RevokeInvitationResponse:
        await self._authorize(request)
        await self._invitations.revoke(request.id)
        return pb.RevokeInvitationResponse()

    async def ListDecisions(self, request: pb.ListDecisionsRequest) -> pb.ListDecisionsResponse:
        await self._authorize(request)
        decisions, cursor = await self._administration.list_decisions(request.query, request.cursor)
        messages = [
            to_message(pb.AccountDecision, decision, action=decision.action.value)
            for decision in decisions
        ]
        return pb.ListDecisionsResponse(decisions=messages, cursor=cursor)

    async def CountAccounts(self, request: pb.CountAccountsRequest) -> pb.CountAccountsResponse:
        await self._authorize(request)
        accounts, size = await self._administration.count_accounts(), await self._store.size()
        return pb.CountAccountsResponse(accounts=accounts, store_bytes=size.bytes)

    async def _authorize(self, request: _WithPass) -> str:
        """Return the e-mail address of the administrator who makes a call."""
        return (await self._administration.authorize(request.administrator_pass)).email


@dataclass(frozen=True)
class AdminServicer:
    """Serves the operator's command and the reconciler."""

    service = pb.DESCRIPTOR.services_by_name["AdminService"]

    _service: AuthService
    _recovery: Recovery
    _administration: Administration
    _invitations: Invitations

    async def CloseAccount(self, request: pb.CloseAccountRequest) -> pb.CloseAccountResponse:
        return pb.CloseAccountResponse(account_id=await self._service.close(request.email))

    async def FindAccount(self, request: pb.FindAccountRequest) -> pb.FindAccountResponse:
        return pb.FindAccountResponse(account_id=await self._service.find(request.email))

    async def CreateResetCode(
        self, request: pb.CreateResetCodeRequest
    ) -> pb.CreateResetCodeResponse:
        code, expires_at, account_id = await self._recovery.create_reset_code(request.email)
        return pb.CreateResetCodeResponse(
            code=code, account_id=account_id, expires_at=to_timestamp(expires_at)
        )

    async def SetRole(self, request: pb.SetRoleRequest) -> pb.SetRoleResponse:
        role = _parse_role(request.role)
        return pb.SetRoleResponse(
            account_id=await self._administration.set_role(request.email, role)
        )

    async def Invite(self, request: pb.InviteRequest) -> pb.InviteResponse:
        invitation, token = await self._invitations.create(request.email, _parse_role(request.role))
        return to_message(pb.InviteResponse, invitation, token=token)

    async def ListClosedAccounts(
        self, request: pb.ListClosedAccountsRequest
    ) -> pb.ListClosedAccountsResponse:
        return pb.ListClosedAccountsResponse(account_ids=await self._service.list_closed())

    async def RemoveAccount(self, request: pb.RemoveAccountRequest) -> pb.RemoveAccountResponse:
        await self._service.remove(request.account_id)
        return pb.RemoveAccountResponse()


def _to_login(login: Login) -> pb.LoginResponse:
    return to_message(pb.LoginResponse, login, device=login.device_token)


def _parse_browser(request: pb.FinishOidcRequest | pb.LinkOidcRequest) -> Browser:
    return Browser(request.secret, request.device, request.browser, request.system)


def _parse_role(number: pb.Role.ValueType) -> Role:
    """Return a role by number. That of a later version grants nothing more."""
    return _ROLES.get(number, Role.MEMBER)


def _parse_scopes(numbers: Iterable[pb.Scope.ValueType]) -> list[Scope]:
    """Return scopes by number. Raises InvalidScopes."""
    try:
        return [_SCOPES[number] for number in numbers]
    except KeyError:
        raise InvalidScopes("There is no such scope.") from None


def _parse_expiry(request: pb.CreateKeyRequest) -> datetime | None:
    """Return when a key expires. Raises InvalidExpiry if it is not within the years 1 to 9999."""
    try:
        return request.expires_at.ToDatetime(UTC) if request.HasField("expires_at") else None
    except TIME_ERRORS:
        raise InvalidExpiry("A key must expire within the years 1 to 9999.") from None
