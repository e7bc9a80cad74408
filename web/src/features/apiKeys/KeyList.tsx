import { useState } from 'react';
import { failureCode, type ApiKey } from '../../api';
import { revokeKey } from '../../api/apiKeys';
import { cache } from '../../api/cache';
import { keys } from '../../api/keys';
import { creatorFacts } from '../../components/browserName';
import { Button } from '../../components/Button';
import { Dialog, DialogActions } from '../../components/Dialog';
import { Item, ItemList } from '../../components/ItemList';
import { actions } from '../../components/messages';
import { announce } from '../../lib/announce';
import { forgetApiKey } from '../../lib/apiKey';
import { formatInstant, formatMoment } from '../../lib/format';
import { endSessionOf, type Account } from '../../lib/owner';
import styles from './ApiKeys.module.css';
import { failureText } from './failureText';
import { item, messages, revoking } from './messages';

/** The keys of an account, newest first. */
export function KeyList({ account, apiKeys }: { account: Account; apiKeys: readonly ApiKey[] }) {
  const [asked, setAsked] = useState<ApiKey | null>(null);
  const [busy, setBusy] = useState<string | null>(null);
  const [said, setSaid] = useState('');

  const revoke = async ({ id, name }: ApiKey) => {
    setAsked(null);
    setBusy(id);
    let text;
    try {
      await revokeKey(account, id);
      forgetApiKey();
      const left = apiKeys.filter((one) => one.id !== id);
      cache.setQueryData(keys.apiKeys(account), left);
      text = revoking.done(name, left.length);
    } catch (error) {
      const code = failureCode(error);
      if (code === 'invalid-token' || code === 'no-logged') {
        endSessionOf(account);
        return;
      }
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
      {apiKeys.length === 0 && <p>{messages.none}</p>}
      {apiKeys.length > 0 && (
        <ItemList label={messages.list}>
          {apiKeys.map((apiKey) => (
            <Item
              key={apiKey.id}
              title={
                <>
                  <strong dir="auto">{apiKey.name}</strong>{' '}
                  <code className={styles.code}>{apiKey.prefix}…</code>
                </>
              }
              facts={[apiKey.scopes.join(', '), ...factsOf(apiKey)]}
              action={
                <Button
                  busy={busy === apiKey.id}
                  aria-label={item.revokeKey(apiKey.name)}
                  onClick={() => setAsked(apiKey)}
                >
                  {item.revoke}
                </Button>
              }
            />
          ))}
        </ItemList>
      )}
      {said !== '' && <p>{said}</p>}
      {asked && (
        <Dialog title={revoking.question(asked.name)} onClose={() => setAsked(null)}>
          <p>{revoking.warning}</p>
          <DialogActions>
            <Button variant="primary" onClick={() => void revoke(asked)}>
              {item.revoke}
            </Button>
            <Button onClick={() => setAsked(null)}>{actions.cancel}</Button>
          </DialogActions>
        </Dialog>
      )}
    </>
  );
}

function factsOf({ created_at, created_by, expires_at, last_used_at }: ApiKey): string[] {
  return [
    item.createdOn(formatMoment(created_at)),
    ...creatorFacts(created_by),
    expiryOf(expires_at),
    last_used_at === null ? item.neverUsed : item.lastUsed(formatInstant(last_used_at)),
  ];
}

function expiryOf(expiresAt: string | null): string {
  if (expiresAt === null) return item.noExpiry;
  const text = Date.parse(expiresAt) > Date.now() ? item.expires : item.expired;
  return text(formatMoment(expiresAt));
}
