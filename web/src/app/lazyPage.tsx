import { lazy, type ComponentType } from 'react';

type Load = () => Promise<{ default: ComponentType }>;

/** The code of a page did not load. */
export class NotLoaded extends Error {
  override readonly name = 'NotLoaded';

  /** `retry` loads the page again, so that it can be shown. It rejects if that fails. */
  constructor(
    cause: unknown,
    readonly retry: () => Promise<void>,
  ) {
    super('A page did not load', { cause });
  }
}

/** A page whose code loads with its route, or before if it is preloaded. */
export type LazyPage = ComponentType & { preload: () => Promise<void> };

/**
 * Returns a page whose code loads with its route.
 *
 * React remembers a failed load, so a retry creates a new lazy component.
 */
export function lazyPage(load: Load): LazyPage {
  const attempt: Load = () =>
    load().catch((error: unknown) => {
      throw new NotLoaded(error, retry);
    });
  const retry = async () => {
    await load();
    Part = lazy(attempt);
  };
  let Part: ComponentType = lazy(attempt);
  const Page = () => <Part />;
  return Object.assign(Page, {
    preload: async () => {
      Part = (await load()).default;
    },
  });
}
