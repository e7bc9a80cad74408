/**
 * Sessions that the user ended in this browser, until the server has ended them, too.
 *
 * Their tokens are no sessions of the pages any more. They are kept in localStorage, so that the
 * server hears of the end even if the page was closed without a connection.
 */
import { toSession, type Session } from './session';
import { readItem, removeItem, writeItem } from './storage';

const KEY = 'endedSessions';
/** More would mean that the user logged in and out without the server. */
const MAX_SESSIONS = 5;

/** Returns the kept sessions that have not expired. */
export function endedSessions(): Session[] {
  try {
    const kept = JSON.parse(readItem(KEY) ?? '[]') as unknown;
    const sessions = Array.isArray(kept) ? kept.map(toSession) : [];
    return sessions.filter((session) => session !== null).filter(isOpen);
  } catch {
    return [];
  }
}

export function keepEnded(session: Session): void {
  write([...endedSessions(), session].slice(-MAX_SESSIONS));
}

export function forgetEnded(token: string): void {
  write(endedSessions().filter((session) => session.token !== token));
}

function isOpen({ expirationTimestamp }: Session): boolean {
  return expirationTimestamp > Date.now();
}

function write(sessions: readonly Session[]): void {
  if (sessions.length > 0) writeItem(KEY, JSON.stringify(sessions));
  else removeItem(KEY);
}
