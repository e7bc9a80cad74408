import { useParams } from 'react-router-dom';
import { Page } from '../components/Page';
import { SignedOut } from '../components/SignedOut';
import { LinkView } from '../features/links/LinkView';
import { isCode } from '../lib/codes';
import { shortAddress } from '../lib/config';
import { useGuest, useOwner, type Owner } from '../lib/owner';
import { useSessionEnded } from '../lib/session';
import { NotFoundPage } from './NotFoundPage';

/** A link's page for its owner: the account, or else this browser as a guest. */
export default function LinkPage() {
  const { code = '' } = useParams();
  const owner = useOwner();
  const guest = useGuest();
  const ended = useSessionEnded();
  if (!isCode(code)) return <NotFoundPage />;

  const nothing = ended ? <SignedOut /> : <NotFoundPage />;
  const view = (as: Owner, otherwise = nothing) => (
    <LinkView
      key={`${as.kind} ${code}`}
      owner={as}
      code={code}
      page={(children) => (
        <Page title={shortAddress(code)} description="A short link and what belongs to it.">
          {children}
        </Page>
      )}
      otherwise={otherwise}
    />
  );
  if (owner.kind === 'nobody') return nothing;
  return owner.kind === 'account' && guest ? view(owner, view(guest)) : view(owner);
}
