import { useState } from 'react';
import { usePart } from '../../lib/usePart';
import { useIdleLoading } from './useReading';

/** Bare, because what is chained to an import() here becomes a part of it in the build. */
const importMore = () => import('./more/more');

const loadMore = async () => {
  const more = await importMore();
  await more.loadLetters();
  return more;
};

/** The options may be opened when there is no network. */
const loadAhead = async () => (await importMore()).loadAhead();

/** What 'More options' opens, loaded when it is opened for the first time. */
export function useOptions() {
  const [open, setOpen] = useState<boolean>();
  const more = usePart(loadMore, open !== undefined);
  useIdleLoading(loadAhead);
  return { more, open: open === true, toggle: () => setOpen(open !== true) };
}

export type More = NonNullable<ReturnType<typeof useOptions>['more']>;
