import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from 'react';

export interface Result {
  code: string;
  url: string;
}

interface Results {
  /** Newest first. */
  results: Result[];
  add: (result: Result) => void;
}

const ResultsContext = createContext<Results>({ results: [], add: () => undefined });

/** Keeps what was shortened in this visit, on whichever page. */
export function ResultsProvider({ children }: { children: ReactNode }) {
  const [results, setResults] = useState<Result[]>([]);
  const add = useCallback((result: Result) => setResults((known) => [result, ...known]), []);
  const value = useMemo(() => ({ results, add }), [results, add]);
  return <ResultsContext value={value}>{children}</ResultsContext>;
}

export function useResults(): Results {
  return useContext(ResultsContext);
}
