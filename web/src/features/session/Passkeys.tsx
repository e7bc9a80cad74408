import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { failureCode, failureReason, type Passkey } from '../../api';
import { cache } from '../../api/cache';
import { keys } from '../../api/keys';
import { beginPasskey, finishPasskey, listPasskeys, removePasskey } from '../../api/passkeys';
import { creatorFacts } from '../../components/browserName';
import { Button } from '../../components/Button';
import { Field } from '../../components/Field';
import { Item } from '../../components/ItemList';
import { LoadedList } from '../../components/LoadedList';
import { announce } from '../../lib/announce';
import { domainOf, publicUrl } from '../../lib/config';
import { formatInstant, formatMoment } from '../../lib/format';
import type { Account } from '../../lib/owner';
import { createPasskey, webAuthnError } from '../../lib/webAuthn';
import { adding, passkeys as texts } from './passkeyMessages';
import { PasswordDialog } from './PasswordDialog';

/** Maximum number of passkeys of an account. */
const MAX_PASSKEYS = 10;
const MAX_NAME = 50;

/** Adds, lists and removes the passkeys of an account. */
export function Passkeys({ account }: { account: Account }) {
  const queryKey = keys.passkeys(account);
  const query = useQuery(
    { queryKey, queryFn: ({ signal }) => listPasskeys(account, { signal }) },
    cache,
  );
  const count = query.data?.length ?? 0;
  const [isAdding, setAdding] = useState(false);
  const [passkeyToRemove, setPasskeyToRemove] = useState<Passkey>();
  const [said, setSaid] = useState('');

  const say = (text: string) => {
    setSaid(text);
    announce(text);
  };

  const onAdded = (name: string) => {
    setAdding(false);
    say(adding.done(name));
    void query.refetch();
  };

  const remove = async ({ id, name }: Passkey, password: string | null) => {
    await removePasskey(account, id, password);
    cache.setQueryData(
      queryKey,
      query.data?.filter((passkey) => passkey.id !== id),
    );
    setPasskeyToRemove(undefined);
    say(texts.removed(name));
  };

  return (
    <>
      <p>
        {texts.hint} {texts.host(domainOf(publicUrl()))}
      </p>
      <LoadedList query={query} texts={texts}>
        {(passkey) => (
          <Item
            key={passkey.id}
            title={<strong dir="auto">{passkey.name}</strong>}
            facts={[
              texts.createdOn(formatMoment(passkey.created_at)),
              ...creatorFacts(passkey.created_by),
              passkey.last_used_at === null
                ? texts.neverUsed
                : texts.lastUsed(formatInstant(passkey.last_used_at)),
            ]}
            action={
              <Button
                aria-label={texts.removeOf(passkey.name)}
                onClick={() => setPasskeyToRemove(passkey)}
              >
                {texts.remove}
              </Button>
            }
          />
        )}
      </LoadedList>
      {count >= MAX_PASSKEYS && <p>{texts.full(MAX_PASSKEYS)}</p>}
      {query.data && count < MAX_PASSKEYS && (
        <div>
          <Button onClick={() => setAdding(true)}>{adding.add}</Button>
        </div>
      )}
      {said !== '' && <p>{said}</p>}
      {isAdding && (
        <AddDialog account={account} onAdded={onAdded} onClose={() => setAdding(false)} />
      )}
      {passkeyToRemove && (
        <PasswordDialog
          account={account}
          title={texts.removeQuestion(passkeyToRemove.name)}
          submit={texts.remove}
          action={(password) => remove(passkeyToRemove, password)}
          explain={(error) => (failureCode(error) === 'last-login' ? texts.last : undefined)}
          onClose={() => setPasskeyToRemove(undefined)}
        >
          <p>{texts.removeWarning}</p>
        </PasswordDialog>
      )}
    </>
  );
}

interface AddDialogProps {
  account: Account;
  onAdded: (name: string) => void;
  onClose: () => void;
}

function AddDialog({ account, onAdded, onClose }: AddDialogProps) {
  const [name, setName] = useState(nameOfThisDevice);

  const add = async (password: string | null) => {
    const given = name.trim() || adding.unnamed;
    const credential = await createPasskey(await beginPasskey(account, password));
    await finishPasskey(account, { name: given, credential });
    onAdded(given);
  };

  return (
    <PasswordDialog
      account={account}
      title={adding.add}
      submit={adding.submit}
      action={add}
      explain={explain}
      onClose={onClose}
    >
      <Field
        label={adding.name}
        name="passkey-name"
        autoComplete="off"
        maxLength={MAX_NAME}
        dir="auto"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <p>{adding.nameHint}</p>
    </PasswordDialog>
  );
}

function explain(error: unknown): string | undefined {
  switch (webAuthnError(error)) {
    case 'NotAllowedError':
      return adding.declined;
    case 'InvalidStateError':
      return adding.exists;
    default:
      return failureReason(error) === 'INVALID_PASSKEY' ? adding.invalid : undefined;
  }
}

/** Returns a name for a passkey of this device, such as `Android`. */
function nameOfThisDevice(): string {
  const [name] = /iPhone|iPad|Android|Windows|Macintosh|CrOS|Linux/.exec(navigator.userAgent) ?? [];
  if (name === 'Macintosh') return 'Mac';
  return name === 'CrOS' ? 'Chromebook' : (name ?? adding.unnamed);
}
