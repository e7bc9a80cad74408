"""Settings of the auth service."""

from __future__ import annotations

import os
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, PositiveInt, SecretStr, ValidationInfo, field_validator

from services.auth.domain.provider_urls import check_provider_url
from services.shared.settings import AdministeredSettings, PublicUrl, check_secret


class AuthSettings(AdministeredSettings):
    """Settings of the auth service, in addition to those of every service."""

    public_url: PublicUrl
    """Where visitors reach the product. Passkeys belong to its host: changing that makes them
    useless."""
    token_secret: SecretStr = Field(min_length=1)
    """Signs session tokens, device tokens and the challenges of passkeys. All replicas need the
    same secret. Changing it ends all sessions."""
    registration: Literal["open", "invite", "closed"] = "open"
    """Who may register: anyone (`open`), people with an invitation (`invite`), or nobody
    (`closed`). Unless it is `open`, each start prints an invitation for the first account, an
    administrator, while there is no account."""
    oidc_issuer: str = ""
    """Issuer of the OpenID Connect provider with which users may log in: https, or http on a
    loopback address. Empty: there is none. The provider returns to `/oidc/callback`."""
    oidc_client_id: str = ""
    """Client id of this instance at the provider."""
    oidc_client_secret: SecretStr = Field(default=SecretStr(""), validate_default=True)
    """Secret of this client, which authenticates by `client_secret_basic`."""
    oidc_registration: Literal["on", "off"] = "off"
    """`on` lets users of the provider register without an invitation where registration is
    `invite`."""
    limits: Literal["on", "off"] = "on"
    """`off` removes the limits on failed log-ins, for load tests."""
    login_failures_by_address: PositiveInt = 10
    """Maximum failed log-ins to one account from one client IP address (IPv6: one /64) in a
    window. As many wrong recovery codes, which are counted separately."""
    login_failures_by_account: PositiveInt = 100
    """Maximum failed log-ins to one account in a window, from all clients together. Wrong recovery
    codes do not count, so that strangers cannot prevent a reset of the password."""
    login_failures_by_browser: PositiveInt = 10
    """Maximum failed log-ins to one account in a window from one browser that logged in to it
    before. As many wrong recovery codes, which are counted separately."""
    login_failures_by_session: PositiveInt = 10
    """Maximum wrong passwords in a window from one session, for example when it changes the
    password or removes the account."""
    login_failures_window_seconds: int = Field(default=900, ge=1, le=31_536_000)
    """Length of a window in seconds, at most a year."""
    bcrypt_threads: PositiveInt = max(1, (os.cpu_count() or 1) - 1)
    """Maximum concurrent password checks. The default leaves one core for everything else.

    A quarter of the threads, at least one, may verify hashes above cost 10. If there is only one
    thread, a second one is added for them.
    """
    logins_waiting: int = Field(default=500, ge=1, le=2000)
    """Maximum log-ins that wait for a thread in a lane, or for an earlier attempt to end. Further
    ones are rejected.

    After each check, choosing the next one compares all networks with waiting log-ins. That takes
    62 us for 500 networks, and four times as long for 2000.
    """

    @field_validator("oidc_issuer")
    @classmethod
    def _is_issuer(cls, issuer: str) -> str:
        if issuer and urlsplit(check_provider_url(issuer)).query:
            raise ValueError("an issuer has no query")
        return issuer

    @field_validator("oidc_client_secret")
    @classmethod
    def _is_complete(cls, secret: SecretStr, others: ValidationInfo) -> SecretStr:
        given = [others.data.get("oidc_issuer"), others.data.get("oidc_client_id")]
        if len({bool(text) for text in (*given, secret.get_secret_value())}) > 1:
            raise ValueError("oidc_issuer, oidc_client_id and this are needed together")
        return secret

    @field_validator("token_secret")
    @classmethod
    def _is_random(cls, secret: SecretStr, info: ValidationInfo) -> SecretStr:
        return check_secret(secret, info)
