import { announce } from '../lib/announce';
import type * as host from './ToastHost';
import type { ToastAction } from './ToastHost';

/** Toasts come with the first interaction; until then nothing of them is loaded. */
type Toasts = typeof host;

let loading: Promise<Toasts> | undefined;
const waiting = new Set<(toasts: Toasts) => void>();

/** Bare, because what is chained to an import() here becomes a part of it in the build. */
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

/** Calls back when the toasts are there, at once if they are. */
export function whenToastsLoad(tell: (toasts: Toasts) => void): () => void {
  waiting.add(tell);
  if (loading) void loading.then(tell, () => undefined);
  return () => waiting.delete(tell);
}

/** Where the toasts do not load, the message is at least heard. */
export function showToast(message: string): void {
  show(message, ({ showError }) => showError(message));
}

/** Something was done, and nothing on the page says so. */
export function tellDone(message: string): void {
  show(message, ({ showDone }) => showDone(message));
}

/** Something was done, and something can be done about it; that must stand in the page, too. */
export function offerToast(message: string, action: ToastAction): void {
  show(message, ({ showOffer }) => showOffer(message, action));
}

function show(message: string, tell: (toasts: Toasts) => void): void {
  loadToasts().then(tell, (error: unknown) => {
    console.error('Toasts did not load:', message, error);
    announce(message);
  });
}
