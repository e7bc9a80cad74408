/** Calls of the backend, one function each. This module loads with the first call. */
export * from './functions/accounts';
export * from './functions/apiKeys';
export * from './functions/imports';
export * from './functions/links';
export * from './functions/oidc';
export * from './functions/passkeys';
export * from './functions/publicLinks';
export * from './functions/recovery';
export * from './functions/sessions';
export * from './functions/statistics';
export type { Login } from './functions/login';
export type { BlockReason, LinkState } from './functions/shared';
