/** Keys of all queries and mutations. Each begins with its owner. */
import type { LinkQuery } from './functions';
import type { Owner } from '../lib/owner';

/** A key begins with its owner, so that no data of one owner is ever shown to another. */
export type Key = readonly [Owner, ...string[]];

const key = (owner: Owner, kind: string, ...parts: string[]): Key => [owner, kind, ...parts];

export const keys = {
  /** Prefix of everything of an owner. */
  all: (owner: Owner): Key => [owner],
  /** Prefix of all lists of an owner's links. */
  lists: (owner: Owner) => key(owner, 'links'),
  list: (owner: Owner, { text, state, order }: LinkQuery) =>
    key(owner, 'links', text, state ?? '', order),
  link: (owner: Owner, code: string) => key(owner, 'link', code),
  preview: (owner: Owner, code: string) => key(owner, 'preview', code),
  scanCode: (owner: Owner, code: string) => key(owner, 'scan code', code),
  imports: (owner: Owner) => key(owner, 'imports'),
  apiKeys: (owner: Owner) => key(owner, 'api keys'),
  sessions: (owner: Owner) => key(owner, 'sessions'),
  recoveryCodes: (owner: Owner) => key(owner, 'recovery codes'),
  passkeys: (owner: Owner) => key(owner, 'passkeys'),
  connections: (owner: Owner) => key(owner, 'connections'),
  /** The number of a guest's links. */
  count: (owner: Owner) => key(owner, 'count'),
  /** A guest's links on the pages with the shortener. */
  guestLinks: (owner: Owner) => key(owner, 'guest links'),
  statistics: (owner: Owner, code: string, span: string, timezone: string) =>
    key(owner, 'statistics', code, span, timezone),

  /** Prefix of what an administrator sees, by the names of the calls. */
  administration: (owner: Owner, call: string, ...parts: string[]) =>
    key(owner, 'administration', call, ...parts),

  /** Mutations. */
  change: (owner: Owner) => key(owner, 'change'),
  move: (owner: Owner) => key(owner, 'move'),
};

/** Returns the query of a list's key. */
export function queryOf([, , text = '', state = '', order = '']: Key) {
  return { text, state, order };
}

/**
 * Whether a change of a link can change the result of a query. Statistics and scan codes do not
 * change.
 */
export function dependsOnLinks({ queryKey: [, kind] }: { queryKey: Key }): boolean {
  return kind !== 'statistics' && kind !== 'scan code' && kind !== 'administration';
}
