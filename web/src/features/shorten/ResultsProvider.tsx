import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from 'react';
import { useGuest, useOwner, type Owner } from '../../lib/owner';

export interface Result {
  code: string;
  url: string;
  /** undefined for that of the public URL. */
  domain?: string | undefined;
  owner: Owner;
  /** Whether the owner just removed it and may restore it. */
  removed?: boolean;
}

interface Results {
  /** Newest first. */
  results: Result[];
  add: (result: Result) => void;
  setRemoved: (code: string, removed: boolean) => void;
  /** Drops removed links. */
  settle: () => void;
}

const ResultsContext = createContext<Results>({
  results: [],
  add: () => undefined,
  setRemoved: () => undefined,
  settle: () => undefined,
});

/**
 * Keeps the links shortened in this visit across pages.
 *
 * An account's links are kept while its session lasts, and a guest's links while the browser has
 * the guest key. A guest's links are not shown while an account is logged in.
 */
export function ResultsProvider({ children }: { children: ReactNode }) {
  const [made, setMade] = useState<Result[]>([]);
  const current = useOwner();
  const guest = useGuest();
  // A response may arrive after the session of its request.
  const isKept = ({ owner }: Result) =>
    owner.kind === 'nobody' || owner === current || owner === guest;
  if (!made.every(isKept)) setMade(made.filter(isKept));

  const add = useCallback((result: Result) => setMade((known) => [result, ...known]), []);
  const setRemoved = useCallback((code: string, removed: boolean) => {
    setMade((known) => known.map((one) => (one.code === code ? { ...one, removed } : one)));
  }, []);
  const settle = useCallback(() => {
    setMade((known) => (known.some(isRemoved) ? known.filter((one) => !isRemoved(one)) : known));
  }, []);
  const value = useMemo(() => {
    const results = made.filter(({ owner }) => owner.kind === 'nobody' || owner === current);
    return { results, add, setRemoved, settle };
  }, [made, current, add, setRemoved, settle]);
  return <ResultsContext value={value}>{children}</ResultsContext>;
}

const isRemoved = ({ removed }: Result) => removed === true;

export function useResults(): Results {
  return useContext(ResultsContext);
}
