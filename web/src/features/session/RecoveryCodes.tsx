import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { RecoveryCodeCount } from '../../api';
import { cache } from '../../api/cache';
import { keys } from '../../api/keys';
import { countRecoveryCodes, createRecoveryCodes } from '../../api/recovery';
import { Button } from '../../components/Button';
import { Loaded } from '../../components/LoadedList';
import { formatInstant } from '../../lib/format';
import type { Account } from '../../lib/owner';
import { CreatedCodes } from './CreatedCodes';
import { PasswordDialog } from './PasswordDialog';
import { recovery } from './recoveryMessages';

/** Says how many recovery codes are left, and creates new ones. */
export function RecoveryCodes({ account }: { account: Account }) {
  const queryKey = keys.recoveryCodes(account);
  const query = useQuery(
    { queryKey, queryFn: ({ signal }) => countRecoveryCodes(account, { signal }) },
    cache,
  );
  const [isConfirming, setConfirming] = useState(false);
  const [codes, setCodes] = useState<readonly string[]>();

  const create = async (password: string | null) => {
    const made = await createRecoveryCodes(account, password);
    const created_at = new Date().toISOString();
    cache.setQueryData<RecoveryCodeCount>(queryKey, { left: made.length, created_at });
    setConfirming(false);
    setCodes(made);
  };

  return (
    <>
      <p>{recovery.hint}</p>
      <Loaded query={query} texts={recovery}>
        {({ left, created_at }) =>
          codes ? (
            <CreatedCodes codes={codes} onDone={() => setCodes(undefined)} />
          ) : (
            <>
              <p>{left === 0 ? recovery.none : recovery.left(left)}</p>
              {created_at && <p>{recovery.createdOn(formatInstant(created_at))}</p>}
              <div>
                <Button onClick={() => setConfirming(true)}>
                  {left === 0 ? recovery.create : recovery.replace}
                </Button>
              </div>
            </>
          )
        }
      </Loaded>
      {isConfirming && (
        <PasswordDialog
          account={account}
          title={recovery.create}
          submit={recovery.create}
          action={create}
          onClose={() => setConfirming(false)}
        >
          {query.data !== undefined && query.data.left > 0 && <p>{recovery.replaceWarning}</p>}
        </PasswordDialog>
      )}
    </>
  );
}
