import type { ReactNode } from 'react';
import { useParams } from 'react-router-dom';
import { Page } from '../components/Page';
import { SignedOut } from '../components/SignedOut';
import { LinkView } from '../features/links/LinkView';
import { details } from '../features/links/messages';
import { SessionEnded } from '../features/session/SessionEnded';
import { PublicStatistics } from '../features/statistics/PublicStatistics';
import { Statistics } from '../features/statistics/Statistics';
import { isCode } from '../lib/codes';
import { shortAddress } from '../lib/config';
import { useGuest, useOwner, type Owner } from '../lib/owner';
import { useSessionEnded } from '../lib/session';
import { NotFoundPage } from './NotFoundPage';

/**
 * The page of a link for its owner: the account, or else this browser as a guest. All others see
 * its statistics if they are public.
 */
export default function LinkPage() {
  const { code = '' } = useParams();
  const owner = useOwner();
  const guest = useGuest();
  const ended = useSessionEnded();
  if (!isCode(code)) return <NotFoundPage />;

  const forAll = (
    <PublicStatistics
      key={code}
      code={code}
      page={(children: ReactNode) => (
        <Page title={shortAddress(code)} description={details.publicDescription}>
          <SessionEnded />
          {children}
        </Page>
      )}
      otherwise={ended ? <SignedOut /> : <NotFoundPage />}
    />
  );
  const view = (as: Owner, otherwise = forAll) => (
    <LinkView
      key={`${as.kind} ${code}`}
      owner={as}
      code={code}
      statistics={<Statistics owner={as} code={code} />}
      page={(children, domain) => (
        <Page title={shortAddress(code, domain)} description={details.description}>
          {children}
        </Page>
      )}
      otherwise={otherwise}
    />
  );
  if (owner.kind === 'nobody') return forAll;
  return owner.kind === 'account' && guest ? view(owner, view(guest)) : view(owner);
}
