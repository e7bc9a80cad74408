/** On whose behalf the page calls: the account of the session, or nobody. */
import { useSyncExternalStore } from 'react';
import { currentSession, endSession, subscribe } from './session';

/** Whoever is logged in, for as long as the session lasts. */
export interface Account {
  kind: 'account';
  token: string;
}

/** Whoever is not: the links that they make belong to no one. */
export interface Nobody {
  kind: 'nobody';
}

export type Owner = Account | Nobody;

export const nobody: Nobody = { kind: 'nobody' };
let account: Account | undefined;

/** The owner as of this moment: the same object for as long as it is the same one. */
export function currentOwner(): Owner {
  const token = currentSession()?.token;
  if (token === undefined) return nobody;
  if (account?.token !== token) account = { kind: 'account', token };
  return account;
}

export function useOwner(): Owner {
  return useSyncExternalStore(subscribe, currentOwner);
}

/** Ends the session whose token the server refused, and not one that has begun since. */
export function endSessionOf(owner: Owner): void {
  if (owner.kind === 'account') endSession(owner.token);
}
