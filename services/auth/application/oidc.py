"""The use cases of log-ins with OpenID Connect (docs/adr/0036).

How a log-in goes
1. The page makes a secret, and keeps it. `begin` returns the provider's URL. Its state is a
   challenge for this secret, so that only the same browser can use it, and only once.
2. The provider returns to the page with a code. `finish` redeems it. Nonce and PKCE verifier are
   derived from the id of the challenge, so that nothing is stored meanwhile.
3. A connected account gets a session. Else the verified e-mail address decides: a new one gets an
   account, and one of an account with a password gets a link, which `link` takes with the password.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from services.auth.application.challenges import LIFETIME, Challenges, InvalidChallenge
from services.auth.application.identities import Identity, InvalidAnswer, Provider
from services.auth.application.password_check import PasswordCheck
from services.auth.application.registrations import Registrations
from services.auth.application.sessions import Login, Sessions
from services.auth.application.stores import AccountStore, ConnectionStore
from services.auth.domain.account import Account, parse_email_key
from services.auth.domain.connection import (
    MAX_CONNECTIONS,
    Connection,
    choose_username,
    connection_id,
)
from services.auth.domain.errors import (
    AccountSuspended,
    EmailTaken,
    EmailUnverified,
    LastLogin,
    NoProvider,
    ProviderRefused,
    ProviderUnavailable,
)
from services.auth.metrics import (
    CONNECTIONS_ADDED,
    CONNECTIONS_REMOVED,
    OIDC_LOGINS,
    count_result,
)
from services.shared.signing import InvalidSignedToken, TokenSigner, derive_key
from services.shared.timestamps import CLOCK_LEEWAY

_MAX_CODE_LENGTH = 4096
"""In characters."""
_MAX_LINK_LENGTH = 4096
"""In characters. A link has about 700."""


@dataclass(frozen=True, slots=True)
class Link:
    """The offer to connect an account by its password."""

    link: str = field(repr=False)
    email: str


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser that comes back from the provider."""

    secret: str = field(repr=False)
    """With which it began."""
    device_token: str = field(repr=False)
    """The last one that it received."""
    name: str
    """For the list of sessions, empty if unknown, like `system`."""
    system: str


@dataclass(frozen=True, eq=False)
class OidcLogins:
    """Logs in with a provider, and manages connections. `now` returns the time in UTC.

    Without a provider there are no log-ins, but connections can be listed and removed.
    """

    _provider: Provider | None
    _secret: str
    _accounts: AccountStore
    _connections: ConnectionStore
    _registrations: Registrations
    _challenges: Challenges
    _passwords: PasswordCheck
    _sessions: Sessions
    _now: Callable[[], datetime]

    async def begin(self, secret: str, token: str) -> str:
        """Return the URL at which a browser logs in, or with a token confirms its session.

        Raises NoProvider, ProviderUnavailable, InvalidToken, Unavailable.
        """
        provider = self._find_provider()
        if token:
            await self._sessions.authenticate(token)
        purpose = _purpose(secret, token)
        state = self._challenges.issue(purpose)
        nonce, verifier = self._derive(self._challenges.check(state, purpose))
        try:
            return await provider.authorization_url(state.decode(), nonce, verifier, bool(token))
        except ProviderUnavailable:
            # While a provider is away, log-ins end here.
            OIDC_LOGINS.labels("unavailable").inc()
            raise

    async def finish(
        self, code: str, state: str, issuer: str, browser: Browser, invitation: str
    ) -> Login | Link:
        """Log in with the provider's response. `issuer` is that of the response, or empty.

        `invitation` is the token of an invitation for a new account, or empty.

        Raises NoProvider, ProviderUnavailable, ProviderRefused, EmailUnverified, EmailTaken,
        RegistrationClosed, InvitationInvalid, AccountSuspended, Unavailable.
        """
        with count_result(OIDC_LOGINS), _refusals():
            provider = self._find_provider()
            identity = await self._identify(provider, code, state, issuer, browser.secret, "")
            found = await self._connections.find(_identify(identity))
            if found is not None:
                return await self._start(found[1], found[0], browser)
            profile = await provider.read_profile(identity)
            email = profile.email or ""
            email_key = parse_email_key(email)
            if email_key is None:
                raise EmailUnverified("The provider knows no verified e-mail address.")
            account = await self._accounts.by_email(email_key)
            if account is None:
                username = choose_username(profile.names, email)
                connection = self._connect(identity.issuer, identity.subject, email)
                account = await self._registrations.register_connected(
                    email, username, connection, invitation
                )
                return await self._start(account, connection, browser)
            if account.closed or not account.has_password:
                raise EmailTaken("An account with this e-mail address already exists.")
            claims = {
                "sub": account.id,
                "connection": [identity.issuer, identity.subject, email],
                "browser": _hash(browser.secret),
            }
            return Link(self._link_signer().sign(claims)[0], account.email)

    async def confirm(self, code: str, state: str, issuer: str, secret: str, token: str) -> None:
        """Confirm the session of a token with the provider's response.

        Raises NoProvider, ProviderUnavailable, ProviderRefused, InvalidToken, Unavailable.
        """
        provider = self._find_provider()
        current = await self._sessions.authenticate(token)
        with _refusals():
            identity = await self._identify(provider, code, state, issuer, secret, token)
        found = await self._connections.find(_identify(identity))
        if found is None or found[1].id != current.account.id:
            raise ProviderRefused("The account is not connected with this identity.")
        # Not every provider says when. Those that do must have asked for the credentials again.
        earliest = self._now() - LIFETIME - CLOCK_LEEWAY
        if identity.authenticated_at is not None and identity.authenticated_at < earliest:
            raise ProviderRefused("The provider did not ask for the credentials again.")
        await self._sessions.confirm(current)

    async def link(self, link: str, password: str, client_ip: str, browser: Browser) -> Login:
        """Connect an account by its password, and start a session.

        Raises ProviderRefused, WrongPassword, TooManyAttempts, LoginsBusy, AccountSuspended,
        Unavailable.
        """
        try:
            claims = self._link_signer().read(link, ["sub", "connection", "browser"])
        except InvalidSignedToken:
            raise ProviderRefused("The log-in at the provider was too long ago.") from None
        if not hmac.compare_digest(claims["browser"], _hash(browser.secret)):
            raise ProviderRefused("The log-in at the provider was in another browser.")
        account = await self._accounts.by_id(claims["sub"])
        if account is None or account.closed:
            raise ProviderRefused("The account was removed meanwhile.")
        issuer, subject, email = claims["connection"]
        connection = self._connect(issuer, subject, email, account.id)
        await self._passwords.check_identified(account, password, client_ip, connection.id)
        if account.suspended:
            raise AccountSuspended
        if await self._connections.add(account, connection, MAX_CONNECTIONS):
            CONNECTIONS_ADDED.inc()
        else:
            found = await self._connections.find(connection.id)
            if found is None or found[1].id != account.id:
                raise ProviderRefused("The account was changed meanwhile.")
        return await self._start(account, connection, browser)

    async def list_all(self, token: str) -> tuple[bool, list[Connection]]:
        """Return whether the account of a token has a password, and its connections, newest first.

        Raises InvalidToken, Unavailable.
        """
        account = (await self._sessions.authenticate(token)).account
        connections = await self._connections.list_all(account.id)
        connections.sort(key=lambda stored: (stored.created_at, stored.id), reverse=True)
        return account.has_password, connections

    async def remove(self, token: str, connection_id: str, password: str, client_ip: str) -> None:
        """Delete a connection of a token's account, unless it does not exist.

        Raises InvalidToken, WrongPassword, ConfirmationNeeded, TooManyAttempts, LoginsBusy,
        LastLogin, Unavailable.
        """
        current = await self._sessions.authenticate(token)
        await self._passwords.check_in_session(current, password, client_ip)
        account = current.account
        if account.has_password:
            is_removed = await self._connections.delete(account.id, connection_id)
        else:
            is_removed = await self._connections.delete_beside_passkey(account.id, connection_id)
            found = None if is_removed else await self._connections.find(connection_id)
            if found is not None and found[1].id == account.id:
                raise LastLogin("Nobody could log in to the account without this connection.")
        if is_removed:
            CONNECTIONS_REMOVED.inc()

    async def _identify(
        self, provider: Provider, code: str, state: str, issuer: str, secret: str, token: str
    ) -> Identity:
        """Return who logged in, and use the state up. Raises InvalidChallenge, InvalidAnswer."""
        challenge_id = self._challenges.check(state.encode(), _purpose(secret, token))
        await self._challenges.use(challenge_id)
        if not 1 <= len(code) <= _MAX_CODE_LENGTH:
            raise InvalidAnswer("The response has no code.")
        return await provider.identify(code, issuer, *self._derive(challenge_id))

    async def _start(self, account: Account, connection: Connection, browser: Browser) -> Login:
        """Start a session of a connected account, and record the use of the connection."""
        if account.closed:
            raise ProviderRefused("The account is being removed.")
        if account.suspended:
            raise AccountSuspended
        login = await self._sessions.start(
            account, browser.device_token, browser.name, browser.system
        )
        if login is None:
            raise ProviderRefused("The account was changed meanwhile.")
        minute = self._now().replace(second=0, microsecond=0)
        await self._connections.record_use(connection, minute)
        return login

    def _connect(self, issuer: str, subject: str, email: str, account_id: str = "") -> Connection:
        return Connection(
            id=connection_id(issuer, subject),
            account_id=account_id,
            issuer=issuer,
            subject=subject,
            email=email,
            created_at=self._now(),
        )

    def _find_provider(self) -> Provider:
        if self._provider is None:
            raise NoProvider("No OpenID Connect provider is configured.")
        return self._provider

    def _derive(self, challenge_id: str) -> tuple[str, str]:
        """Return the nonce and the PKCE verifier of a challenge, which only this service knows."""
        key = derive_key(self._secret, "atajo oidc")
        nonce, verifier = (
            hmac.digest(key, f"{purpose} {challenge_id}".encode(), hashlib.sha256)
            for purpose in ("nonce", "verifier")
        )
        return _encode(nonce), _encode(verifier)

    def _link_signer(self) -> TokenSigner:
        key = derive_key(self._secret, "atajo oidc link")
        return TokenSigner(key, "atajo oidc link", _MAX_LINK_LENGTH, LIFETIME, self._now)


def _identify(identity: Identity) -> str:
    return connection_id(identity.issuer, identity.subject)


def _purpose(secret: str, token: str) -> str:
    """Return the purpose of a challenge: to log in, or to confirm the session of a token."""
    return f"oidc {_hash(json.dumps([secret, token]))}"


def _hash(text: str) -> str:
    return _encode(hashlib.sha256(text.encode()).digest())


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise ProviderRefused for whatever proves no identity."""
    try:
        yield
    except (InvalidAnswer, InvalidChallenge) as error:
        raise ProviderRefused("The log-in at the provider could not be verified.") from error
