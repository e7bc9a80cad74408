import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { cache } from '../../api/cache';
import { listKeys } from '../../api/apiKeys';
import { keys } from '../../api/keys';
import { rememberApiKey } from '../../lib/apiKey';
import { documents } from '../../lib/edge';
import type { Account } from '../../lib/owner';
import { CreatedKey } from './CreatedKey';
import { CreateKeyForm, type NewKey } from './CreateKeyForm';
import { KeyList } from './KeyList';
import { MAX_KEYS } from './limits';
import { messages } from './messages';

/** Creates, lists and revokes the API keys of an account. */
export function ApiKeys({ account }: { account: Account }) {
  const [created, setCreated] = useState<NewKey | null>(null);
  const query = useQuery(
    {
      queryKey: keys.apiKeys(account),
      queryFn: ({ signal }) => listKeys(account, { signal }),
    },
    cache,
  );
  const count = query.data?.length ?? 0;

  const onCreated = (key: NewKey) => {
    setCreated(key);
    rememberApiKey(key.text);
    void query.refetch();
  };

  return (
    <>
      <p>
        {messages.hint} <a href={documents.api}>{messages.documentation}</a>
      </p>
      {created && <CreatedKey {...created} onDone={() => setCreated(null)} />}
      <KeyList account={account} query={query} />
      {count >= MAX_KEYS && <p>{messages.full(MAX_KEYS)}</p>}
      {query.data && count < MAX_KEYS && !created && (
        <CreateKeyForm account={account} onCreated={onCreated} />
      )}
    </>
  );
}
