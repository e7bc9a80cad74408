import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Account } from '../lib/owner';
import { providerName } from '../lib/oidc';
import { cache } from './cache';
import type { Connections } from './functions';
import { keys } from './keys';
import { listConnections } from './oidc';

/** The query of an account's connections. Without a provider, nothing is asked. */
export function useConnections(account: Account): UseQueryResult<Connections> {
  return useQuery(
    {
      queryKey: keys.connections(account),
      queryFn: ({ signal }) => listConnections(account, { signal }),
      enabled: providerName() !== '',
    },
    cache,
  );
}

/**
 * Returns the name of the provider that confirms the session of an account, because it has no
 * password; undefined for all others.
 */
export function useConfirmingProvider(account: Account): string | undefined {
  const hasPassword = useConnections(account).data?.has_password ?? true;
  return hasPassword ? undefined : providerName();
}
