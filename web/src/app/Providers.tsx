import { useEffect, type ReactNode } from 'react';
import { warmUp } from '../api';
import { endOnServer } from '../api/logOut';
import { Toasts } from '../components/Toasts';
import { loadToasts } from '../components/toast';
import { ResultsProvider } from '../features/shorten/ResultsProvider';
import { loadRules } from '../features/shorten/rules';

const FIRST_INTERACTIONS = ['pointerdown', 'keydown', 'input'] as const;

export function Providers({ children }: { children: ReactNode }) {
  useEffect(() => {
    const done = new AbortController();
    const onInteraction = () => {
      done.abort();
      warmUp();
      loadToasts().catch(() => undefined);
      loadRules().catch(() => undefined);
    };
    for (const name of FIRST_INTERACTIONS) {
      addEventListener(name, onInteraction, { signal: done.signal, passive: true });
    }
    return () => done.abort();
  }, []);

  useEffect(endOnServer, []);

  return (
    <ResultsProvider>
      {children}
      <Toasts />
    </ResultsProvider>
  );
}
