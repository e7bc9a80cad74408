/** Removals and restorations of links (moves), which are shown before the server confirms them. */
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

/** Returns an owner's unconfirmed moves, oldest first. */
export function pendingMoves(owner: Owner): Move[] {
  return cache.getMutationCache().findAll(filtersOf(owner)).map(moveOf);
}

/** Returns the same for a component. */
export function useMoves(owner: Owner): Move[] {
  return useMutationState({ filters: filtersOf(owner), select: moveOf }, cache);
}

export function isMoving({ code }: Link, moves: readonly Move[]): boolean {
  return moves.some(({ codes }) => codes.has(code));
}

/** Returns a link after the moves, the same object if none of them is about it. */
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

/** Whether a list of this state contains the link. '' and null mean every state except removed. */
export function belongs(link: Link, state: string | null): boolean {
  return (state === 'removed') === (link.state === 'removed');
}

/**
 * Returns a link in its current state: an active link expires at its time, even in a stale cache.
 */
export function current(link: Link): Link {
  const isOver = link.expires_at !== null && Date.parse(link.expires_at) <= Date.now();
  return link.state === 'active' && isOver ? { ...link, state: 'expired' } : link;
}
