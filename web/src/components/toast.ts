import { announce } from '../lib/announce';
import type * as host from './ToastHost';
import type { ToastAction } from './ToastHost';

/** Lazy loading of toasts. Their code loads with the first interaction. */
type Toasts = typeof host;

let loading: Promise<Toasts> | undefined;
const waiting = new Set<(toasts: Toasts) => void>();

/** Nothing is chained to the import(): the build would make it part of the import(). */
const importHost = () => import('./ToastHost');

export function loadToasts(): Promise<Toasts> {
  loading ??= importHost().then(
    (toasts) => {
      for (const tell of waiting) tell(toasts);
      return toasts;
    },
    (error: unknown) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}

/** Calls `tell` when the toasts have loaded. Returns a function that unsubscribes. */
export function whenToastsLoad(tell: (toasts: Toasts) => void): () => void {
  waiting.add(tell);
  if (loading) void loading.then(tell, () => undefined);
  return () => waiting.delete(tell);
}

/** Shows an error. If the toasts do not load, announces the message instead. */
export function showToast(message: string): void {
  show(message, ({ showError }) => showError(message));
}

/** Reports a completed action that the page does not show otherwise. */
export function tellDone(message: string): void {
  show(message, ({ showDone }) => showDone(message));
}

/**
 * Reports a completed action and offers a further one, which the page must offer elsewhere, too.
 */
export function offerToast(message: string, action: ToastAction): void {
  show(message, ({ showOffer }) => showOffer(message, action));
}

function show(message: string, tell: (toasts: Toasts) => void): void {
  loadToasts().then(tell, (error: unknown) => {
    console.error('Toasts did not load:', message, error);
    announce(message);
  });
}
