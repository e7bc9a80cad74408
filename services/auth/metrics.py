"""Metrics of the auth service."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, get_args

from prometheus_client import Counter, Gauge, Histogram

from services.auth.domain.errors import (
    AccountSuspended,
    EmailTaken,
    EmailUnverified,
    InvalidEmail,
    InvalidPasswordHash,
    InvalidToken,
    InvalidUsername,
    InvitationInvalid,
    LastAdministrator,
    LoginsBusy,
    NoAccount,
    NoPasskey,
    ProviderRefused,
    ProviderUnavailable,
    RegistrationClosed,
    TooManyAttempts,
    WrongPasskey,
    WrongPassword,
    WrongRecoveryCode,
)
from services.auth.domain.passwords import Lane
from services.shared import unreadable_records
from services.shared.administrators import ConfirmationNeeded

unreadable_records.expect("api_key", "session", "passkey", "recovery_code", "connection")
unreadable_records.expect("account", "invitation", "account_decision")
REGISTRATIONS = Counter(
    "atajo_registrations",
    "Registrations by result: closed, registration is closed; invitation, it needs one that is "
    "valid; email_taken; invalid, an e-mail address, username or hash. Repeated registrations are "
    "ok. Internal errors are not counted.",
    ["result"],
)
LOGINS = Counter(
    "atajo_logins",
    "Log-ins by result: limited, too many earlier attempts failed; busy, too many log-ins were "
    "waiting; suspended, the account is. Internal errors are not counted.",
    ["result"],
)
SESSIONS_ENDED = Counter(
    "atajo_sessions_ended_total",
    "Sessions that the owners of accounts ended one by one or together.",
)
PASSWORD_CHANGES = Counter(
    "atajo_password_changes",
    "Password changes by result, with the same results as log-ins, and invalid_token, "
    "invalid_hash, and unconfirmed, of an account without a password. Internal errors are not "
    "counted.",
    ["result"],
)
ACCOUNT_CLOSINGS = Counter(
    "atajo_account_closings",
    "Account closings by their owners, by result, with the same results as log-ins, and "
    "invalid_token, last_administrator and unconfirmed. Internal errors are not counted.",
    ["result"],
)

PASSWORD_RESETS = Counter(
    "atajo_password_resets",
    "Password resets with recovery codes or reset links, by result: wrong_code, no such code of "
    "this e-mail address; the others as for password changes. Internal errors are not counted.",
    ["result"],
)
PASSKEY_LOGINS = Counter(
    "atajo_passkey_logins",
    "Log-ins with passkeys by result: no_passkey, no account has it; wrong_passkey, the answer of "
    "the browser did not prove it; suspended, the account is. Internal errors are not counted.",
    ["result"],
)
OIDC_LOGINS = Counter(
    "atajo_oidc_logins",
    "Log-ins with OpenID Connect by result: ok, also if the password of an account is asked for; "
    "refused, nothing proved an identity; unavailable, the provider did not answer as it should, "
    "also when a log-in or a confirmation began; "
    "unverified, it knows no verified e-mail address; email_taken, by an account without a "
    "password; suspended, closed and invitation, as for other log-ins and registrations. Internal "
    "errors are not counted.",
    ["result"],
)
CONNECTIONS_ADDED = Counter(
    "atajo_connections_added", "Connections added to accounts by their password."
)
CONNECTIONS_REMOVED = Counter(
    "atajo_connections_removed", "Connections that the owners of accounts removed."
)
RECOVERY_CODES_CREATED = Counter(
    "atajo_recovery_codes_created", "Sets of recovery codes that owners of accounts created."
)
RESET_CODES_CREATED = Counter(
    "atajo_reset_links_created", "Reset links that the operator and administrators created."
)
PASSKEYS_ADDED = Counter("atajo_passkeys_added", "Passkeys added to accounts.")
PASSKEYS_REMOVED = Counter(
    "atajo_passkeys_removed",
    "Passkeys that their owners removed one by one. Passkeys revoked with a new password, and "
    "passkeys of removed accounts, are not counted.",
)
ACCOUNTS_CREATED = Counter(
    "atajo_accounts_created", "Accounts created. Repeated registrations are not counted."
)
KEYS_CREATED = Counter("atajo_api_keys_created", "API keys created.")
KEYS_REVOKED = Counter(
    "atajo_api_keys_revoked",
    "API keys that their owners revoked one by one. Keys revoked with a new password, and keys of "
    "removed accounts, are not counted.",
)
KEY_VERIFICATIONS = Counter(
    "atajo_api_key_verifications",
    "Verifications of API keys by result: unknown, never created or revoked; closed, the account "
    "is being removed; suspended, it is suspended. Internal errors are not counted.",
    ["result"],
)
LOGIN_SECONDS = Histogram(
    "atajo_login_seconds",
    "Time from the arrival of a log-in until its password was checked, including waiting, by lane: "
    "expensive for bcrypt hashes above cost 10, standard for others. Rejected log-ins are not "
    "counted.",
    ["lane"],
    buckets=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30),
)
CHECKS_WAITING = Gauge(
    "atajo_password_checks_waiting",
    "Password checks that wait for a thread, by lane.",
    ["lane"],
)
CHECKS_RUNNING = Gauge(
    "atajo_password_checks_running",
    "Running password checks, by lane. Each uses one thread.",
    ["lane"],
)
CHECK_SLOTS = Gauge(
    "atajo_password_check_slots",
    "Maximum concurrent password checks, by lane. The threads of the expensive lane are part of "
    "those of the standard lane.",
    ["lane"],
)

_CHECK_RESULTS: Mapping[type[Exception], str] = {
    WrongPassword: "wrong_password",
    TooManyAttempts: "limited",
    LoginsBusy: "busy",
}
_SESSION_RESULTS = {
    **_CHECK_RESULTS,
    InvalidToken: "invalid_token",
    ConfirmationNeeded: "unconfirmed",
}
_RESULTS: Mapping[Counter, Mapping[type[Exception], str]] = {
    REGISTRATIONS: {
        RegistrationClosed: "closed",
        InvitationInvalid: "invitation",
        EmailTaken: "email_taken",
        InvalidEmail: "invalid",
        InvalidUsername: "invalid",
        InvalidPasswordHash: "invalid",
    },
    LOGINS: {**_CHECK_RESULTS, NoAccount: "no_account", AccountSuspended: "suspended"},
    PASSWORD_CHANGES: {**_SESSION_RESULTS, InvalidPasswordHash: "invalid_hash"},
    ACCOUNT_CLOSINGS: {**_SESSION_RESULTS, LastAdministrator: "last_administrator"},
    PASSWORD_RESETS: {
        WrongRecoveryCode: "wrong_code",
        TooManyAttempts: "limited",
        LoginsBusy: "busy",
        InvalidPasswordHash: "invalid_hash",
    },
    OIDC_LOGINS: {
        ProviderRefused: "refused",
        ProviderUnavailable: "unavailable",
        EmailUnverified: "unverified",
        EmailTaken: "email_taken",
        AccountSuspended: "suspended",
        RegistrationClosed: "closed",
        InvitationInvalid: "invitation",
    },
    PASSKEY_LOGINS: {
        NoPasskey: "no_passkey",
        WrongPasskey: "wrong_passkey",
        AccountSuspended: "suspended",
    },
}
for _counter, _results in _RESULTS.items():
    for _result in ("ok", *_results.values()):
        _counter.labels(_result)  # A rate needs the initial zero.

KeyResult = Literal["ok", "unknown", "expired", "closed", "suspended"]
"""The results of KEY_VERIFICATIONS."""
for _result in get_args(KeyResult):
    KEY_VERIFICATIONS.labels(_result)


@contextmanager
def count_result(counter: Counter) -> Iterator[None]:
    """Count the result of the body in a counter of `_RESULTS`."""
    results = _RESULTS[counter]
    try:
        yield
    except tuple(results) as error:
        counter.labels(results[type(error)]).inc()
        raise
    counter.labels("ok").inc()


@contextmanager
def time_login(start: float, lane: Lane) -> Iterator[None]:
    """Observe the duration of a log-in when the body has checked its password.

    `start` is the arrival of the log-in by `time.perf_counter`.
    """
    try:
        yield
    except WrongPassword:
        LOGIN_SECONDS.labels(lane).observe(time.perf_counter() - start)
        raise
    LOGIN_SECONDS.labels(lane).observe(time.perf_counter() - start)
