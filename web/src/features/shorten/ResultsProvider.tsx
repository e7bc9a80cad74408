import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from 'react';
import { useGuest, useOwner, type Owner } from '../../lib/owner';

export interface Result {
  code: string;
  url: string;
  owner: Owner;
}

interface Results {
  /** Newest first. */
  results: Result[];
  add: (result: Result) => void;
}

const ResultsContext = createContext<Results>({ results: [], add: () => undefined });

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
  const value = useMemo(() => {
    const results = made.filter(({ owner }) => owner.kind === 'nobody' || owner === current);
    return { results, add };
  }, [made, current, add]);
  return <ResultsContext value={value}>{children}</ResultsContext>;
}

export function useResults(): Results {
  return useContext(ResultsContext);
}
