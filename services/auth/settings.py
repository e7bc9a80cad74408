"""Settings of the auth service."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import Field, PositiveInt, SecretStr, ValidationInfo, field_validator

from services.shared.settings import ServiceSettings, refuse_placeholder


class AuthSettings(ServiceSettings):
    """What the auth service can be told beside what every service can."""

    token_secret: SecretStr = Field(min_length=1)
    """Signs session tokens and device tokens; every replica has the same. A new one ends all
    sessions."""
    limits: Literal["on", "off"] = "on"
    """`off` lets log-in fail without limit, for load tests."""
    login_failures_by_address: PositiveInt = 10
    """Most failures for one account from one address (IPv6: one /64) in a window."""
    login_failures_by_account: PositiveInt = 100
    """Most failures for one account from everywhere in a window."""
    login_failures_by_browser: PositiveInt = 10
    """Most failures for one account from one browser that logged in to it before, in a window."""
    login_failures_by_session: PositiveInt = 10
    """Maximum wrong passwords sent from one session in a window, to change the password or remove
    the account."""
    login_failures_window_seconds: int = Field(default=900, ge=1, le=31_536_000)
    """At most a year."""
    bcrypt_threads: PositiveInt = max(1, (os.cpu_count() or 1) - 1)
    """How many passwords are verified at a time; by default a core is left for the rest.

    Of these threads a quarter, at least one, may verify hashes above cost 10. Where there is only
    one, a second one is added for them.
    """
    logins_waiting: int = Field(default=500, ge=1, le=2000)
    """Most log-ins that may wait, for a thread of their lane or their turn; one more is refused.

    Whose turn it is, is looked for among all networks that wait: of 500, each its own, that takes
    62 us, of 2000 four times as much, with each password that was verified.
    """

    @field_validator("token_secret")
    @classmethod
    def _is_random(cls, secret: SecretStr, info: ValidationInfo) -> SecretStr:
        refuse_placeholder(secret.get_secret_value(), info.data.get("environment", "production"))
        return secret
