import { useCallback, useEffect, useState } from 'react';
import { useSearchParams } from 'react-router-dom';
import type { LinkQuery, LinkState } from '../../api';
import { codeInShortUrl } from '../../lib/shortUrls';
import { list } from './messages';

/** Milliseconds without typing after which a search starts. */
const SEARCH_DELAY = 250;

/** Maximum characters (UTF-16 units, not fewer than code points) of a search. */
export const MAX_SEARCH = 999;

export const orders = [
  { value: 'newest', text: list.orders.newest },
  { value: 'oldest', text: list.orders.oldest },
  { value: 'most viewed', text: list.orders['most viewed'] },
] as const;

export const states = [
  { value: 'all', text: list.states.all },
  { value: 'active', text: list.states.active },
  { value: 'expired', text: list.states.expired },
  { value: 'blocked', text: list.states.blocked },
  { value: 'removed', text: list.states.removed },
] as const satisfies readonly { value: LinkState | 'all'; text: string }[];

interface ListQuery {
  /** The current query. */
  query: LinkQuery;
  /** Text of the search field. It is searched for when typing pauses. */
  typed: string;
  setTyped: (text: string) => void;
  setOrder: (order: LinkQuery['order']) => void;
  setState: (state: LinkState | null) => void;
}

/**
 * Returns the query of the list. It is in the URL of the page, so that users who come back find it.
 */
export function useListQuery(): ListQuery {
  const [params, setParams] = useSearchParams();
  const text = (params.get('search') ?? '').slice(0, MAX_SEARCH);
  const order = orders.find(({ value }) => value === params.get('order'))?.value ?? 'newest';
  const state = states.find(({ value }) => value === params.get('state'))?.value ?? 'all';
  const [typed, setTyped] = useState(text);

  const set = useCallback(
    (name: string, value: string, plain: string) =>
      setParams(
        (known) => {
          const next = new URLSearchParams(known);
          if (value === plain) next.delete(name);
          else next.set(name, value);
          return next;
        },
        { replace: true },
      ),
    [setParams],
  );

  const trimmed = typed.trim();
  useEffect(() => {
    if (trimmed === text) return undefined;
    const timer = setTimeout(() => set('search', trimmed, ''), SEARCH_DELAY);
    return () => clearTimeout(timer);
  }, [trimmed, text, set]);

  return {
    // A short URL finds its link: the server searches codes, not hosts.
    query: { text: codeInShortUrl(text) ?? text, state: state === 'all' ? null : state, order },
    typed,
    setTyped,
    setOrder: (value) => set('order', value, 'newest'),
    setState: (value) => set('state', value ?? 'all', 'all'),
  };
}
