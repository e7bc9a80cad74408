/** The administrator on whose behalf the sections call. */
import { createContext, useContext, type ComponentType, type ReactNode } from 'react';
import { useInfiniteQuery, useQuery, type InfiniteData } from '@tanstack/react-query';
import type { Page } from '../../api/administration';
import { cache } from '../../api/cache';
import { keys, type Key } from '../../api/keys';
import type { Account } from '../../lib/owner';

export type WarningsPart = ComponentType<{
  place: { host: string; long_link: string | undefined };
  warnings: readonly string[];
}>;

export interface Administrator {
  account: Account;
  /**
   * Returns the result of a call. If the session must be confirmed first, asks for the password and
   * repeats the call; throws a Failure `confirm` if the user declines.
   */
  run: <T>(call: () => Promise<T>) => Promise<T>;
  /** Shows the warnings about a destination. */
  Warnings: WarningsPart;
}

export const AdministratorContext = createContext<Administrator | null>(null);

export function useAdministrator(): Administrator {
  const administrator = useContext(AdministratorContext);
  if (!administrator) throw new Error('There is no administrator');
  return administrator;
}

type Read<T> = (account: Account, options: { signal: AbortSignal }) => Promise<T>;

/** What a call returns, in the cache of the administrator. `parts` are its arguments. */
export function useRead<T>(name: string, parts: string[], read: Read<T>, enabled = true) {
  const { account, run } = useAdministrator();
  return useQuery(
    {
      queryKey: keys.administration(account, name, ...parts),
      queryFn: ({ signal }) => run(() => read(account, { signal })),
      enabled,
      refetchOnWindowFocus: false,
    },
    cache,
  );
}

export type ListData<T> = InfiniteData<Page<T>, string | null>;

type ReadPage<T> = (
  account: Account,
  cursor: string | null,
  options: { signal: AbortSignal },
) => Promise<Page<T>>;

/** The pages of a list, as far as they have been loaded. */
export function useList<T>(name: string, parts: string[], read: ReadPage<T>) {
  const { account, run } = useAdministrator();
  return useInfiniteQuery<Page<T>, Error, ListData<T>, Key, string | null>(
    {
      queryKey: keys.administration(account, name, ...parts),
      queryFn: ({ signal, pageParam }) => run(() => read(account, pageParam, { signal })),
      initialPageParam: null,
      getNextPageParam: ({ cursor }) => cursor,
      refetchOnWindowFocus: false,
    },
    cache,
  );
}

export interface SectionProps {
  /** What to look for, from the link that led here. */
  query: string;
}

export type Section = (props: SectionProps) => ReactNode;
