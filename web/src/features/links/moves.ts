/** Removals and restorings, which are shown before the server confirms them. */
import { useMutationState, type Mutation } from '@tanstack/react-query';
import type { Link } from '../../api';
import { cache } from '../../api/cache';
import { keys } from '../../api/keys';
import type { Owner } from '../../lib/owner';

export interface Move {
  kind: 'remove' | 'restore';
  codes: ReadonlySet<string>;
}

const filtersOf = (owner: Owner) => ({ mutationKey: keys.move(owner), status: 'pending' }) as const;
const moveOf = ({ state }: Mutation) => state.variables as Move;

/** The moves of an owner that are not confirmed yet, the first one first. */
export function pendingMoves(owner: Owner): Move[] {
  return cache.getMutationCache().findAll(filtersOf(owner)).map(moveOf);
}

/** The same for a component. */
export function useMoves(owner: Owner): Move[] {
  return useMutationState({ filters: filtersOf(owner), select: moveOf }, cache);
}

export function isMoving({ code }: Link, moves: readonly Move[]): boolean {
  return moves.some(({ codes }) => codes.has(code));
}

/** Returns a link as it is after the moves: the same object where none of them is about it. */
export function moved(link: Link, moves: readonly Move[]): Link {
  return moves.reduce(
    (known, { kind, codes }) =>
      codes.has(link.code) ? { ...known, state: stateAfter(kind, known) } : known,
    link,
  );
}

function stateAfter(kind: Move['kind'], link: Link): Link['state'] {
  if (kind === 'remove') return 'removed';
  if (link.reason !== null) return 'blocked';
  return current({ ...link, state: 'active' }).state;
}

/** Whether a list of this state, '' or null for all but removed, has the link. */
export function belongs(link: Link, state: string | null): boolean {
  return (state === 'removed') === (link.state === 'removed');
}

/** Returns a link as it is now: an active one expires at its time, whatever the cache says. */
export function current(link: Link): Link {
  const isOver = link.expires_at !== null && Date.parse(link.expires_at) <= Date.now();
  return link.state === 'active' && isOver ? { ...link, state: 'expired' } : link;
}
