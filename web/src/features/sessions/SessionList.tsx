import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { failureCode, type Session } from '../../api';
import { cache } from '../../api/cache';
import { keys } from '../../api/keys';
import { endOtherSessions, endSession, listSessions } from '../../api/sessions';
import { browserName } from '../../components/browserName';
import { Button } from '../../components/Button';
import { Item, ItemList } from '../../components/ItemList';
import { actions } from '../../components/messages';
import { Spinner } from '../../components/Spinner';
import { announce } from '../../lib/announce';
import { formatInstant } from '../../lib/format';
import { endSessionOf, type Account } from '../../lib/owner';
import { messages } from './messages';

const OTHERS = 'others';

/** Lists the sessions of an account, and ends others. */
export function SessionList({ account }: { account: Account }) {
  const queryKey = keys.sessions(account);
  const { data, isError, isFetching, refetch } = useQuery(
    { queryKey, queryFn: ({ signal }) => listSessions(account, { signal }) },
    cache,
  );
  const [busy, setBusy] = useState<string | null>(null);
  const [said, setSaid] = useState('');

  /** Ends sessions by `call`, after which only those that `stays` accepts are left. */
  const end = async (
    name: string,
    call: () => Promise<void>,
    stays: (session: Session) => boolean,
    done: string,
  ) => {
    if (busy !== null) return;
    setBusy(name);
    let text = done;
    try {
      await call();
      cache.setQueryData(queryKey, data?.filter(stays));
    } catch (error) {
      const code = failureCode(error);
      if (code === 'invalid-token' || code === 'no-logged') {
        endSessionOf(account);
        return;
      }
      console.error(error);
      text = messages.failed;
    } finally {
      setBusy(null);
    }
    setSaid(text);
    announce(text);
  };

  const endOne = ({ id }: Session) =>
    end(
      id,
      () => endSession(account, id),
      (session) => session.id !== id,
      messages.ended,
    );
  const endOthers = () =>
    end(
      OTHERS,
      () => endOtherSessions(account),
      ({ current }) => current,
      messages.othersEnded,
    );

  return (
    <>
      <p>{messages.hint}</p>
      {!data && !isError && <Spinner label={messages.loading} />}
      {isError && !data && (
        <>
          <p>{messages.loadFailed}</p>
          <div>
            <Button busy={isFetching} onClick={() => void refetch()}>
              {actions.tryAgain}
            </Button>
          </div>
        </>
      )}
      {data && data.length > 0 && (
        <ItemList label={messages.list}>
          {data.map((session) => (
            <Item
              key={session.id}
              title={<strong>{browserName(session)}</strong>}
              facts={[
                messages.since(formatInstant(session.created_at)),
                session.current
                  ? messages.current
                  : messages.lastUsed(formatInstant(session.last_seen_at)),
              ]}
              action={
                !session.current && (
                  <Button
                    busy={busy === session.id}
                    aria-label={messages.endOf(
                      browserName(session),
                      formatInstant(session.created_at),
                    )}
                    onClick={() => void endOne(session)}
                  >
                    {messages.end}
                  </Button>
                )
              }
            />
          ))}
        </ItemList>
      )}
      {data?.some(({ current }) => !current) && (
        <div>
          <Button busy={busy === OTHERS} onClick={() => void endOthers()}>
            {messages.endOthers}
          </Button>
        </div>
      )}
      {said !== '' && <p>{said}</p>}
    </>
  );
}
