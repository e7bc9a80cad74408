import { useState } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ApiKey } from '../../api';
import { revokeKey } from '../../api/apiKeys';
import { cache } from '../../api/cache';
import { endRefusedSession } from '../../api/endRefusedSession';
import { keys } from '../../api/keys';
import { creatorFacts } from '../../components/browserName';
import { Button } from '../../components/Button';
import { Dialog, DialogActions } from '../../components/Dialog';
import { Item } from '../../components/ItemList';
import { LoadedList } from '../../components/LoadedList';
import { actions } from '../../components/messages';
import { announce } from '../../lib/announce';
import { forgetApiKey } from '../../lib/apiKey';
import { formatInstant, formatMoment } from '../../lib/format';
import type { Account } from '../../lib/owner';
import styles from './ApiKeys.module.css';
import { failureText } from './failureText';
import { item, messages, revoking } from './messages';

interface KeyListProps {
  account: Account;
  query: UseQueryResult<ApiKey[]>;
}

/** The keys of an account, newest first. */
export function KeyList({ account, query }: KeyListProps) {
  const [keyToRevoke, setKeyToRevoke] = useState<ApiKey | null>(null);
  const [busy, setBusy] = useState<string | null>(null);
  const [said, setSaid] = useState('');

  const revoke = async ({ id, name }: ApiKey) => {
    setKeyToRevoke(null);
    setBusy(id);
    let text;
    try {
      await revokeKey(account, id);
      forgetApiKey();
      const remaining = (query.data ?? []).filter((apiKey) => apiKey.id !== id);
      cache.setQueryData(keys.apiKeys(account), remaining);
      text = revoking.done(name, remaining.length);
    } catch (error) {
      if (endRefusedSession(account, error)) return;
      console.error(error);
      text = failureText(error);
    } finally {
      setBusy(null);
    }
    setSaid(text);
    announce(text);
  };

  return (
    <>
      <LoadedList query={query} texts={messages}>
        {(apiKey) => (
          <Item
            key={apiKey.id}
            title={
              <>
                <strong dir="auto">{apiKey.name}</strong>{' '}
                <code className={styles.code}>{apiKey.prefix}…</code>
              </>
            }
            facts={[apiKey.scopes.join(', '), ...describeKey(apiKey)]}
            action={
              <Button
                busy={busy === apiKey.id}
                aria-label={item.revokeKey(apiKey.name)}
                onClick={() => setKeyToRevoke(apiKey)}
              >
                {item.revoke}
              </Button>
            }
          />
        )}
      </LoadedList>
      {said !== '' && <p>{said}</p>}
      {keyToRevoke && (
        <Dialog title={revoking.question(keyToRevoke.name)} onClose={() => setKeyToRevoke(null)}>
          <p>{revoking.warning}</p>
          <DialogActions>
            <Button variant="primary" onClick={() => void revoke(keyToRevoke)}>
              {item.revoke}
            </Button>
            <Button onClick={() => setKeyToRevoke(null)}>{actions.cancel}</Button>
          </DialogActions>
        </Dialog>
      )}
    </>
  );
}

function describeKey({ created_at, created_by, expires_at, last_used_at }: ApiKey): string[] {
  return [
    item.createdOn(formatMoment(created_at)),
    ...creatorFacts(created_by),
    describeExpiry(expires_at),
    last_used_at === null ? item.neverUsed : item.lastUsed(formatInstant(last_used_at)),
  ];
}

function describeExpiry(expiresAt: string | null): string {
  if (expiresAt === null) return item.noExpiry;
  const text = Date.parse(expiresAt) > Date.now() ? item.expires : item.expired;
  return text(formatMoment(expiresAt));
}
