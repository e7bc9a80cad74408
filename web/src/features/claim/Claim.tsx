import { useEffect, useState } from 'react';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useNavigate } from 'react-router-dom';
import { claimLinks, failureCode, failureReason, onLinkCreated, showLinks } from '../../api';
import { cache } from '../../api/cache';
import { keys } from '../../api/keys';
import { messages as shared } from '../../components/messages';
import { Spinner } from '../../components/Spinner';
import { TextButton } from '../../components/TextButton';
import { offerToast, showToast } from '../../components/toast';
import { announce } from '../../lib/announce';
import { declineClaim, dropGuestKey, rememberGuestLinks } from '../../lib/guest';
import { currentOwner, endSessionOf, type Account, type Guest } from '../../lib/owner';
import { paths } from '../../lib/paths';
import { useHere } from '../../lib/useHere';
import styles from './Claim.module.css';
import { messages } from './messages';

interface ClaimProps {
  account: Account;
  guest: Guest;
}

/** Returns the query of the number of a guest's links. */
function countOf(guest: Guest) {
  return queryOptions({
    queryKey: keys.count(guest),
    queryFn: async ({ signal }) => {
      const query = { text: '', state: null, order: 'newest', limit: 1 } as const;
      return (await showLinks(guest, query, null, { signal })).total;
    },
    // Without the number there is no offer, so a failure needs no message.
    meta: { onFailure: () => undefined },
  });
}

onLinkCreated((_link, owner) => {
  if (owner.kind === 'guest') void cache.invalidateQueries({ queryKey: keys.count(owner) });
});

/** One line with the number of a guest's links and the button that adds them to the account. */
export function Claim({ account, guest }: ClaimProps) {
  const { data: count = 0 } = useQuery(countOf(guest), cache);
  const [busy, setBusy] = useState(false);
  const isHere = useHere();
  const navigate = useNavigate();
  const words = messages.offer(count);

  useEffect(() => {
    rememberGuestLinks(count);
    if (count > 0) announce(words);
  }, [count, words]);

  const take = async () => {
    if (busy) return;
    setBusy(true);
    try {
      const claimed = await claim(account, guest);
      offerToast(messages.done(claimed), {
        text: messages.show,
        onChoose: () => void navigate(paths.account),
      });
    } catch (error) {
      if (failureCode(error) === 'invalid-token') endSessionOf(account);
      else {
        console.error(error);
        const isFull = failureReason(error) === 'ACCOUNT_FULL';
        showToast(isFull ? shared.accountFull : messages.failed);
      }
    }
    if (isHere()) setBusy(false);
  };

  if (count === 0) return null;
  return (
    <section className={styles.band} aria-label={messages.label}>
      <div className={styles.line}>
        <p>{words}</p>
        <span className={styles.actions}>
          <TextButton
            variant="primary"
            aria-disabled={busy || undefined}
            onClick={() => void take()}
          >
            {messages.accept}
          </TextButton>
          <TextButton onClick={() => declineClaim(guest.key)}>{messages.decline}</TextButton>
          {busy && <Spinner label={messages.busy} />}
        </span>
      </div>
    </section>
  );
}

/** Moves a guest's links to an account and deletes the guest key, which then owns nothing. */
async function claim(account: Account, guest: Guest): Promise<number> {
  const claimed = await claimLinks(account, guest);
  dropGuestKey(guest.key);
  void cache.invalidateQueries({ queryKey: keys.all(account) });
  return claimed;
}

/** Claims links created with a deleted guest key, if an account is logged in. */
export async function claimLate(guest: Guest): Promise<void> {
  const owner = currentOwner();
  if (owner.kind !== 'account') return;
  try {
    await claim(owner, guest);
  } catch (error) {
    if (failureCode(error) === 'invalid-token') endSessionOf(owner);
    else console.error(error);
  }
}
