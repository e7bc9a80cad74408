import { useCallback, useEffect, useState } from 'react';
import { useSearchParams } from 'react-router-dom';
import type { LinkQuery, LinkState } from '../../api';
import { list } from './messages';

/** Milliseconds without another letter after which links are looked for. */
const REST = 250;

/** The most characters (code points are fewer) that links can be searched for. */
export const LONGEST_SEARCH = 999;

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
  /** What is asked for. */
  query: LinkQuery;
  /** What stands in the search field; it is asked for once nothing is added to it. */
  typed: string;
  setTyped: (text: string) => void;
  setOrder: (order: LinkQuery['order']) => void;
  setState: (state: LinkState | null) => void;
}

/** Which links are looked at, as the address of the page says it: who comes back finds it so. */
export function useListQuery(): ListQuery {
  const [params, setParams] = useSearchParams();
  const text = (params.get('search') ?? '').slice(0, LONGEST_SEARCH);
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

  const wanted = typed.trim();
  useEffect(() => {
    if (wanted === text) return undefined;
    const timer = setTimeout(() => set('search', wanted, ''), REST);
    return () => clearTimeout(timer);
  }, [wanted, text, set]);

  return {
    query: { text, state: state === 'all' ? null : state, order },
    typed,
    setTyped,
    setOrder: (value) => set('order', value, 'newest'),
    setState: (value) => set('state', value ?? 'all', 'all'),
  };
}
