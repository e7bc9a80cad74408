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
  const [results, setResults] = useState<Result[]>([]);
  const token = useSession()?.token ?? null;
  const [before, setBefore] = useState(token);
  if (token !== before) {
    setBefore(token);
    setResults((known) => known.filter((result) => result.token === null));
  }
  const add = useCallback((result: Result) => setResults((known) => [result, ...known]), []);
  const value = useMemo(() => ({ results, add }), [results, add]);
  return <ResultsContext value={value}>{children}</ResultsContext>;
}

export function useResults(): Results {
  return useContext(ResultsContext);
}
