import { useSyncExternalStore } from 'react';
import { onLinkCreated } from '../../api';
import { guestKey, guestLinks, isClaimDeclined, putGuestKey, subscribe } from '../../lib/guest';
import { currentGuest, useOwner, type Guest } from '../../lib/owner';
import { usePart } from '../../lib/usePart';
import styles from './ClaimOffer.module.css';

/** Nothing is chained to the import(): the build would make it part of the import(). */
const loadClaim = () => import('./Claim');

/**
 * Offers to add the links created in this browser to the account, until the user accepts or
 * declines.
 *
 * Its code loads only if there are both an account and a guest key.
 */
export function ClaimOffer() {
  const owner = useOwner();
  const guest = useSyncExternalStore(subscribe, offered, () => null);
  const account = owner.kind === 'account' ? owner : null;
  const part = usePart(loadClaim, account !== null && guest !== null);
  if (!account || !guest) return null;
  return (
    <div className={guestLinks() > 0 ? styles.expected : undefined}>
      {part && <part.Claim key={guest.key} account={account} guest={guest} />}
    </div>
  );
}

function offered(): Guest | null {
  const guest = currentGuest();
  return guest && !isClaimDeclined(guest.key) ? guest : null;
}

// A link was being created when its guest key was deleted: claim it, too. If that fails, the
// restored key brings the offer back.
onLinkCreated((_link, owner) => {
  if (owner.kind !== 'guest' || guestKey() === owner.key) return;
  putGuestKey(owner.key);
  loadClaim().then(
    ({ claimLate }) => claimLate(owner),
    (error: unknown) => console.error('A part of the page did not load', error),
  );
});
