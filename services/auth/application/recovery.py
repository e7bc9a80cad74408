"""The use cases of recovery codes: a forgotten password does not lose an account."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from services.auth.application.accounts import find_open_account, no_account
from services.auth.application.attempt_limiter import AttemptLimiter
from services.auth.application.client_networks import capacity_network
from services.auth.application.device_tokens import DeviceTokens
from services.auth.application.password_check import PasswordCheck
from services.auth.application.password_verifier import PasswordVerifier
from services.auth.application.sessions import Sessions, session_ended
from services.auth.application.stores import AccountStore, RecoveryCodeStore
from services.auth.domain.account import parse_email_key
from services.auth.domain.decision import Action, Decision, create_decision
from services.auth.domain.errors import NoAccount, WrongRecoveryCode
from services.auth.domain.passwords import validate_password_hash
from services.auth.domain.recovery_code import (
    COUNT,
    RESET_LIFETIME,
    RecoveryCode,
    generate_code,
    normalize_code,
)
from services.auth.metrics import (
    PASSWORD_RESETS,
    RECOVERY_CODES_CREATED,
    RESET_CODES_CREATED,
    count_result,
)


@dataclass(frozen=True, eq=False)
class Recovery:
    """Creates recovery codes, and sets passwords with them. `now` returns the time in UTC.

    All codes of an account are hashed with its id as the salt. An attempt therefore takes one hash,
    however many codes there are.
    """

    _accounts: AccountStore
    _codes: RecoveryCodeStore
    _attempts: AttemptLimiter
    _verifier: PasswordVerifier
    _passwords: PasswordCheck
    _sessions: Sessions
    _device_tokens: DeviceTokens
    _now: Callable[[], datetime]

    async def create_codes(self, token: str, password: str, client_ip: str) -> list[str]:
        """Replace the codes of a token's account. Return the new ones, which are not stored.

        Raises InvalidToken, WrongPassword, TooManyAttempts, LoginsBusy, Unavailable.
        """
        current = await self._sessions.authenticate(token)
        account = current.account
        await self._passwords.check_in_session(current, password, client_ip)
        network = capacity_network(client_ip, in_session=True)
        codes = [generate_code() for _ in range(COUNT)]
        hashes = [await self._hash(code, account.id, network) for code in codes]
        if not await self._codes.replace(account, hashes, self._now()):
            raise session_ended()
        RECOVERY_CODES_CREATED.inc()
        return codes

    async def count_codes(self, token: str) -> tuple[int, datetime | None]:
        """Return how many codes of a token's account are left, and when they were created.

        The time is None if there are none, or if an earlier schema version stored them.

        Raises InvalidToken, Unavailable.
        """
        account = (await self._sessions.authenticate(token)).account
        stored = await self._codes.list_all(account.id)
        codes = [code for code in stored if not code.is_operators]
        return len(codes), codes[0].created_at if codes else None

    async def reset_password(
        self,
        email: str,
        code: str,
        new_hash: str,
        new_salt: str,
        client_ip: str,
        device_token: str = "",
        revoke: bool = False,
    ) -> None:
        """Set the password of an account, spend the code, and end all sessions of the account.

        With `revoke`, and always with a code of the operator, also delete the API keys, passkeys
        and connections of the account. A code of the operator says that the owner lost the account,
        perhaps to somebody who created codes: it deletes the owner's codes, too.

        This starts no session, so it lets nobody into a suspended account. Nobody can tell from the
        error or its time whether the account exists.

        Raises InvalidPasswordHash, WrongRecoveryCode, TooManyAttempts, LoginsBusy, Unavailable.
        """
        with count_result(PASSWORD_RESETS):
            new_hash = validate_password_hash(new_hash, new_salt)
            try:
                account_id = (await find_open_account(self._accounts, email)).id
            except NoAccount:
                account_id = _no_id(email)
            browser = self._device_tokens.find_browser(device_token, account_id)
            async with self._attempts.attempt(account_id, client_ip, browser, is_recovery=True):
                network = capacity_network(client_ip, in_session=False)
                hashed = await self._hash(code, account_id, network)
                stored = await self._codes.list_all(account_id)
                # Compare with each of them, so that the time does not depend on which one matches.
                matching = [
                    candidate for candidate in stored if hmac.compare_digest(candidate.hash, hashed)
                ]
                if not matching or not await self._codes.spend(
                    account_id,
                    matching[0],
                    new_hash,
                    new_salt,
                    revoke or matching[0].is_operators,
                    self._now(),
                ):
                    raise WrongRecoveryCode("The e-mail address or the recovery code is wrong.")

    async def create_reset_code(self, email: str) -> tuple[str, datetime, str]:
        """Return a code for an account whose owner asked the operator, its expiry, and the id.

        Raises NoAccount, Unavailable.
        """
        account = await find_open_account(self._accounts, email)
        code, expires_at = await self._put_reset_code(account.id, None)
        return code, expires_at, account.id

    async def create_account_reset_code(
        self, account_id: str, by: str
    ) -> tuple[str, datetime, str]:
        """Return such a code by decision of an administrator, its expiry, and the e-mail address.

        Raises NoAccount, Unavailable.
        """
        account = await self._accounts.by_id(account_id)
        if account is None:
            raise no_account()
        decision = create_decision(Action.RESET_LINK, account_id, by, self._now())
        code, expires_at = await self._put_reset_code(account_id, decision)
        return code, expires_at, account.email

    async def _put_reset_code(
        self, account_id: str, decision: Decision | None
    ) -> tuple[str, datetime]:
        code, expires_at = generate_code(), self._now() + RESET_LIFETIME
        stored = RecoveryCode(await self._hash(code, account_id, "operator"), expires_at)
        if not await self._codes.put_expiring(account_id, stored, decision):
            raise no_account()
        RESET_CODES_CREATED.inc()
        return code, expires_at

    async def _hash(self, code: str, account_id: str, network: str) -> bytes:
        return await self._verifier.hash_code(normalize_code(code), account_id, network)


def _no_id(email: str) -> str:
    """Return what stands for the id of an account that does not exist, and has no codes."""
    return hashlib.sha256((parse_email_key(email) or email).encode()).hexdigest()[:24]
