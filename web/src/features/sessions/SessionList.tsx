import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { Session } from '../../api';
import { cache } from '../../api/cache';
import { endRefusedSession } from '../../api/endRefusedSession';
import { keys } from '../../api/keys';
import { endOtherSessions, endSession, listSessions } from '../../api/sessions';
import { browserName } from '../../components/browserName';
import { Button } from '../../components/Button';
import { Item } from '../../components/ItemList';
import { LoadedList } from '../../components/LoadedList';
import { announce } from '../../lib/announce';
import { formatInstant } from '../../lib/format';
import type { Account } from '../../lib/owner';
import { messages } from './messages';

const OTHERS = 'others';

/** Lists the sessions of an account, and ends others. */
export function SessionList({ account }: { account: Account }) {
  const queryKey = keys.sessions(account);
  const query = useQuery(
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
      cache.setQueryData(queryKey, query.data?.filter(stays));
    } catch (error) {
      if (endRefusedSession(account, error)) return;
      console.error(error);
      text = messages.failed;
    } finally {
      setBusy(null);
    }
    setSaid(text);
    announce(text);
  };

  const endListed = ({ id }: Session) =>
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
      <LoadedList query={query} texts={messages}>
        {(session) => (
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
                  onClick={() => void endListed(session)}
                >
                  {messages.end}
                </Button>
              )
            }
          />
        )}
      </LoadedList>
      {query.data?.some(({ current }) => !current) && (
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
