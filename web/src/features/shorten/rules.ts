/** Lazy loading of the rules of URLs, which are not needed before the first interaction. */
import type * as url from './url';

type Rules = typeof url;

let loading: Promise<Rules> | undefined;

export function loadRules(): Promise<Rules> {
  loading ??= import('./url').catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}
