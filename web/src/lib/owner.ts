/**
 * The owner on whose behalf the page calls: the account of the session, this browser as a guest, or
 * nobody.
 */
import { useSyncExternalStore } from 'react';
import { guestKey, makeGuestKey, subscribe as subscribeToGuest } from './guest';
import {
  confirmSession,
  currentSession,
  refuseSession,
  subscribe as subscribeToSession,
} from './session';

/** The account that is logged in, while its session lasts. */
export interface Account {
  kind: 'account';
  token: string;
}

/** A browser without an account, which stores a key for the links created in it. */
export interface Guest {
  kind: 'guest';
  /** 32 random bytes in base64url, 43 characters. It leaves the browser only in calls. */
  key: string;
}

/** Neither of them: the links that are created have no owner. */
export interface Nobody {
  kind: 'nobody';
}

export type Owner = Account | Guest | Nobody;

export const nobody: Nobody = { kind: 'nobody' };
let account: Account | undefined;
let guest: Guest | undefined;

/** Returns the current owner, the same object while it does not change. */
export function currentOwner(): Owner {
  const token = currentSession()?.token;
  if (token === undefined) return currentGuest() ?? nobody;
  if (account?.token !== token) account = { kind: 'account', token };
  return account;
}

/** Returns the guest whose key this browser has, logged in or not. */
export function currentGuest(): Guest | null {
  return guestOf(guestKey());
}

/**
 * Returns the owner of a link created now. Creates a guest for the first link without an account.
 */
export function ownerOfNewLink(): Owner {
  const owner = currentOwner();
  return owner.kind === 'nobody' ? (guestOf(makeGuestKey()) ?? nobody) : owner;
}

export function useOwner(): Owner {
  return useSyncExternalStore(subscribe, currentOwner, () => nobody);
}

export function useGuest(): Guest | null {
  return useSyncExternalStore(subscribeToGuest, currentGuest, () => null);
}

/** Stores that the server accepted a call on behalf of this owner. */
export function confirmSessionOf(owner: Owner): void {
  if (owner.kind === 'account') confirmSession(owner.token);
}

/** Ends the session whose token the server refused, but not a newer session. */
export function endSessionOf(owner: Owner): void {
  if (owner.kind === 'account') refuseSession(owner.token);
}

function guestOf(key: string | null): Guest | null {
  if (key === null) return null;
  if (guest?.key !== key) guest = { kind: 'guest', key };
  return guest;
}

function subscribe(listener: () => void): () => void {
  const stops = [subscribeToSession(listener), subscribeToGuest(listener)];
  return () => {
    for (const stop of stops) stop();
  };
}
