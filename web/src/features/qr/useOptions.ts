import { useState } from 'react';
import { usePart } from '../../lib/usePart';
import { useIdleLoading } from './useReading';

/** A bare import(), because the build makes any call chained to it part of the import. */
const importMore = () => import('./more/more');

const loadMore = async () => {
  const more = await importMore();
  await more.loadFont();
  return more;
};

/** Preloads what the options need, so that they can be opened without a network. */
const loadAhead = async () => (await importMore()).loadAhead();

/** Holds the state of 'More options', and loads its code when it is opened for the first time. */
export function useOptions() {
  const [open, setOpen] = useState<boolean>();
  const more = usePart(loadMore, open !== undefined);
  useIdleLoading(loadAhead);
  return { more, open: open === true, toggle: () => setOpen(open !== true) };
}

export type More = NonNullable<ReturnType<typeof useOptions>['more']>;
