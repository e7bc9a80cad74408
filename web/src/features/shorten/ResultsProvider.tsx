import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from 'react';
import { useSession } from '../../lib/session';

export interface Result {
  code: string;
  url: string;
  /** Of the session it was made in; null for a guest's. */
  token: string | null;
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
  const token = useSession()?.token ?? null;
  // An answer may come after the session that asked for it.
  const isShown = (result: Result) => result.token === null || result.token === token;
  if (!made.every(isShown)) setMade(made.filter(isShown));
  const add = useCallback((result: Result) => setMade((known) => [result, ...known]), []);
  const value = useMemo(() => ({ results: made, add }), [made, add]);
  return <ResultsContext value={value}>{children}</ResultsContext>;
}

export function useResults(): Results {
  return useContext(ResultsContext);
}
