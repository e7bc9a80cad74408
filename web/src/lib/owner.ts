/** On whose behalf the page calls: the account of the session, this browser as a guest, or nobody. */
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

/** A browser without an account, which keeps a key for the links that it makes. */
export interface Guest {
  kind: 'guest';
  /** 32 random bytes in base64url, 43 characters. It leaves the browser in calls alone. */
  key: string;
}

/** Neither: links that are created belong to no one. */
export interface Nobody {
  kind: 'nobody';
}

export type Owner = Account | Guest | Nobody;

export const nobody: Nobody = { kind: 'nobody' };
let account: Account | undefined;
let guest: Guest | undefined;

/** The owner as of this moment: the same object for as long as it is the same one. */
export function currentOwner(): Owner {
  const token = currentSession()?.token;
  if (token === undefined) return currentGuest() ?? nobody;
  if (account?.token !== token) account = { kind: 'account', token };
  return account;
}

/** The guest whose key this browser has, with or without a log-in. */
export function currentGuest(): Guest | null {
  return guestOf(guestKey());
}

/** Whom a link belongs to that is made now. The first one made without an account makes a guest. */
export function ownerOfNewLink(): Owner {
  const owner = currentOwner();
  return owner.kind === 'nobody' ? (guestOf(makeGuestKey()) ?? nobody) : owner;
}

export function useOwner(): Owner {
  return useSyncExternalStore(subscribe, currentOwner);
}

export function useGuest(): Guest | null {
  return useSyncExternalStore(subscribeToGuest, currentGuest);
}

/** Notes that the server did what it was asked to on behalf of this owner. */
export function confirmSessionOf(owner: Owner): void {
  if (owner.kind === 'account') confirmSession(owner.token);
}

/** Ends the session whose token the server refused, and not one that has begun since. */
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
