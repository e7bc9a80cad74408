import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { RecoveryCodeCount } from '../../api';
import { cache } from '../../api/cache';
import { keys } from '../../api/keys';
import { countRecoveryCodes, createRecoveryCodes } from '../../api/recovery';
import { Button } from '../../components/Button';
import { actions } from '../../components/messages';
import { Spinner } from '../../components/Spinner';
import { formatInstant } from '../../lib/format';
import type { Account } from '../../lib/owner';
import { CreatedCodes } from './CreatedCodes';
import { PasswordDialog } from './PasswordDialog';
import { recovery } from './recoveryMessages';

/** Says how many recovery codes are left, and creates new ones. */
export function RecoveryCodes({ account }: { account: Account }) {
  const queryKey = keys.recoveryCodes(account);
  const { data, isError, isFetching, refetch } = useQuery(
    { queryKey, queryFn: ({ signal }) => countRecoveryCodes(account, { signal }) },
    cache,
  );
  const [asked, setAsked] = useState(false);
  const [codes, setCodes] = useState<readonly string[]>();

  const create = async (password: string) => {
    const made = await createRecoveryCodes(account, password);
    const created_at = new Date().toISOString();
    cache.setQueryData<RecoveryCodeCount>(queryKey, { left: made.length, created_at });
    setAsked(false);
    setCodes(made);
  };

  return (
    <>
      <p>{recovery.hint}</p>
      {data === undefined && !isError && <Spinner label={recovery.loading} />}
      {isError && data === undefined && (
        <>
          <p>{recovery.loadFailed}</p>
          <div>
            <Button busy={isFetching} onClick={() => void refetch()}>
              {actions.tryAgain}
            </Button>
          </div>
        </>
      )}
      {codes && <CreatedCodes codes={codes} onDone={() => setCodes(undefined)} />}
      {data !== undefined && !codes && (
        <>
          <p>{data.left === 0 ? recovery.none : recovery.left(data.left)}</p>
          {data.created_at && <p>{recovery.createdOn(formatInstant(data.created_at))}</p>}
          <div>
            <Button onClick={() => setAsked(true)}>
              {data.left === 0 ? recovery.create : recovery.replace}
            </Button>
          </div>
        </>
      )}
      {asked && (
        <PasswordDialog
          account={account}
          title={recovery.create}
          submit={recovery.create}
          action={create}
          onClose={() => setAsked(false)}
        >
          {data !== undefined && data.left > 0 && <p>{recovery.replaceWarning}</p>}
        </PasswordDialog>
      )}
    </>
  );
}
