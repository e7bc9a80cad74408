import { useSyncExternalStore } from 'react';
import { whenLinkMade } from '../../api';
import { guestKey, guestLinks, isClaimDeclined, putGuestKey, subscribe } from '../../lib/guest';
import { currentGuest, useOwner, type Guest } from '../../lib/owner';
import { usePart } from '../../lib/usePart';
import styles from './ClaimOffer.module.css';

/** Bare, because what is chained to an import() here becomes a part of it in the build. */
const loadClaim = () => import('./Claim');

/**
 * Offers to add to the account the links that this browser made without one,
 * until that is done or declined. What it needs comes only where there are both.
 */
export function ClaimOffer() {
  const owner = useOwner();
  const guest = useSyncExternalStore(subscribe, offered);
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

// A link that was under way when its key was given up: it follows the others. Should that not work,
// the key is there again, and with it the offer.
whenLinkMade((_link, owner) => {
  if (owner.kind !== 'guest' || guestKey() === owner.key) return;
  putGuestKey(owner.key);
  loadClaim().then(
    ({ claimLate }) => claimLate(owner),
    (error: unknown) => console.error('A part of the page did not load', error),
  );
});
