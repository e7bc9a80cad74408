import { useState } from 'react';
import { failureCode, type Connection } from '../../api';
import { cache } from '../../api/cache';
import { keys } from '../../api/keys';
import { removeConnection } from '../../api/oidc';
import { useConnections } from '../../api/useConnections';
import { Button } from '../../components/Button';
import { Item, ItemList } from '../../components/ItemList';
import { Loaded } from '../../components/LoadedList';
import { announce } from '../../lib/announce';
import { formatInstant } from '../../lib/format';
import { providerName } from '../../lib/oidc';
import type { Account } from '../../lib/owner';
import { connections as texts } from './oidcMessages';
import { PasswordDialog } from './PasswordDialog';

/** Lists and removes the connections of an account with the OpenID Connect provider. */
export function Connections({ account }: { account: Account }) {
  const query = useConnections(account);
  const [toRemove, setToRemove] = useState<Connection>();
  const [said, setSaid] = useState('');
  const name = providerName();

  const remove = async ({ id }: Connection, password: string | null) => {
    await removeConnection(account, id, password);
    cache.setQueryData(
      keys.connections(account),
      query.data && {
        ...query.data,
        connections: query.data.connections.filter((connection) => connection.id !== id),
      },
    );
    setToRemove(undefined);
    setSaid(texts.removed);
    announce(texts.removed);
  };

  return (
    <>
      <p>{texts.hint(name)}</p>
      <Loaded query={query} texts={texts}>
        {({ connections }) =>
          connections.length === 0 ? (
            <p>{texts.none(name)}</p>
          ) : (
            <ItemList label={texts.list}>
              {connections.map((connection) => (
                <Item
                  key={connection.id}
                  title={<strong>{connection.email}</strong>}
                  facts={[
                    texts.createdOn(formatInstant(connection.created_at)),
                    ...(connection.last_used_at === null
                      ? []
                      : [texts.lastUsed(formatInstant(connection.last_used_at))]),
                  ]}
                  action={
                    <Button
                      aria-label={texts.removeOf(connection.email)}
                      onClick={() => setToRemove(connection)}
                    >
                      {texts.remove}
                    </Button>
                  }
                />
              ))}
            </ItemList>
          )
        }
      </Loaded>
      {said !== '' && <p>{said}</p>}
      {toRemove && (
        <PasswordDialog
          account={account}
          title={texts.removeQuestion(toRemove.email)}
          submit={texts.remove}
          action={(password) => remove(toRemove, password)}
          explain={(error) => (failureCode(error) === 'last-login' ? texts.last : undefined)}
          onClose={() => setToRemove(undefined)}
        >
          <p>{texts.removeWarning(name)}</p>
        </PasswordDialog>
      )}
    </>
  );
}
