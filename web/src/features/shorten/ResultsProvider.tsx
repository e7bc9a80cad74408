import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from 'react';
import { useGuest, useOwner, type Owner } from '../../lib/owner';

export interface Result {
  code: string;
  url: string;
  owner: Owner;
  /** Its owner removed it just now, and may want it back. */
  removed?: boolean;
}

interface Results {
  /** Newest first. */
  results: Result[];
  add: (result: Result) => void;
  setRemoved: (code: string, removed: boolean) => void;
  /** Forgets what was removed. */
  settle: () => void;
}

const ResultsContext = createContext<Results>({
  results: [],
  add: () => undefined,
  setRemoved: () => undefined,
  settle: () => undefined,
});

/**
 * Keeps what was shortened in this visit, on whichever page: an account's while its session lasts,
 * a guest's while the browser has its key. A guest's is not shown while an account is logged in.
 */
export function ResultsProvider({ children }: { children: ReactNode }) {
  const [made, setMade] = useState<Result[]>([]);
  const current = useOwner();
  const guest = useGuest();
  // An answer may come after the session that asked for it.
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
