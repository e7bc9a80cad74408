import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { cache } from '../../api/cache';
import { listKeys } from '../../api/apiKeys';
import { keys } from '../../api/keys';
import { Button } from '../../components/Button';
import { actions } from '../../components/messages';
import { Spinner } from '../../components/Spinner';
import { rememberApiKey } from '../../lib/apiKey';
import { documents } from '../../lib/edge';
import type { Account } from '../../lib/owner';
import styles from './ApiKeys.module.css';
import { CreatedKey } from './CreatedKey';
import { CreateKeyForm, type NewKey } from './CreateKeyForm';
import { KeyList } from './KeyList';
import { MAX_KEYS } from './limits';
import { messages } from './messages';

/** Creates, lists and revokes the API keys of an account. */
export function ApiKeys({ account }: { account: Account }) {
  const [created, setCreated] = useState<NewKey | null>(null);
  const { data, isError, isFetching, refetch } = useQuery(
    {
      queryKey: keys.apiKeys(account),
      queryFn: ({ signal }) => listKeys(account, { signal }),
    },
    cache,
  );

  const onCreated = (key: NewKey) => {
    setCreated(key);
    rememberApiKey(key.text);
    void refetch();
  };

  return (
    <>
      <p>
        {messages.hint} <a href={documents.api}>{messages.documentation}</a>
      </p>
      {created && <CreatedKey {...created} onDone={() => setCreated(null)} />}
      {!data && !isError && <Spinner label={messages.loading} />}
      {isError && !data && (
        <div className={styles.stack}>
          <p>{messages.loadFailed}</p>
          <div>
            <Button busy={isFetching} onClick={() => void refetch()}>
              {actions.tryAgain}
            </Button>
          </div>
        </div>
      )}
      {data && <KeyList account={account} apiKeys={data} />}
      {data && data.length >= MAX_KEYS && <p>{messages.full(MAX_KEYS)}</p>}
      {data && data.length < MAX_KEYS && !created && (
        <CreateKeyForm account={account} onCreated={onCreated} />
      )}
    </>
  );
}
