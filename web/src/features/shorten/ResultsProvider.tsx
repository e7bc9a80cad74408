import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from 'react';
import { useOwner, type Owner } from '../../lib/owner';

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

/** Keeps what was shortened in this visit, on whichever page: an account's while its session lasts. */
export function ResultsProvider({ children }: { children: ReactNode }) {
  const [made, setMade] = useState<Result[]>([]);
  const current = useOwner();
  // An answer may come after the session that asked for it.
  const isShown = ({ owner }: Result) => owner.kind === 'nobody' || owner === current;
  if (!made.every(isShown)) setMade(made.filter(isShown));
  const add = useCallback((result: Result) => setMade((known) => [result, ...known]), []);
  const value = useMemo(() => ({ results: made, add }), [made, add]);
  return <ResultsContext value={value}>{children}</ResultsContext>;
}

export function useResults(): Results {
  return useContext(ResultsContext);
}
