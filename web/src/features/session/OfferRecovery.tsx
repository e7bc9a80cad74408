import { useEffect, useState } from 'react';
import { Link } from 'react-router-dom';
import { TextButton } from '../../components/TextButton';
import { paths } from '../../lib/paths';
import { endRecoveryOffer, isRecoveryOffered } from '../../lib/recoveryOffer';
import { recovery } from './recoveryMessages';

/** Offers recovery codes in one line, on the first visit of the account after a registration. */
export function OfferRecovery() {
  const [isOffered, setOffered] = useState(isRecoveryOffered);
  useEffect(endRecoveryOffer, []);
  if (!isOffered) return null;
  return (
    <p>
      {recovery.offer} <Link to={`${paths.settings}#recovery-codes`}>{recovery.create}</Link>{' '}
      <TextButton onClick={() => setOffered(false)}>{recovery.notNow}</TextButton>
    </p>
  );
}
