import { lazy, type ComponentType } from 'react';

type Load = () => Promise<{ default: ComponentType }>;

/** The code of a page did not load. */
export class NotLoaded extends Error {
  override readonly name = 'NotLoaded';

  /** `retry` loads once more, so that the page can be shown; it rejects where that fails again. */
  constructor(
    cause: unknown,
    readonly retry: () => Promise<void>,
  ) {
    super('A page did not load', { cause });
  }
}

/** A page whose code comes with its route. React remembers that a load failed; a retry forgets it. */
export function lazyPage(load: Load): ComponentType {
  const attempt: Load = () =>
    load().catch((error: unknown) => {
      throw new NotLoaded(error, retry);
    });
  const retry = async () => {
    await load();
    Part = lazy(attempt);
  };
  let Part = lazy(attempt);
  return function LazyPage() {
    return <Part />;
  };
}
