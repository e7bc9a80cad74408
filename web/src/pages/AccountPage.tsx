import { Page } from '../components/Page';
import { SignedOut } from '../components/SignedOut';
import { AccountHeader } from '../features/links/AccountHeader';
import { LinkList } from '../features/links/LinkList';
import { list } from '../features/links/messages';
import { OfferRecovery } from '../features/session/OfferRecovery';
import { Overview } from '../features/statistics/Overview';
import { SmallBars } from '../features/statistics/SmallBars';
import { Shortener } from '../features/shorten/Shortener';
import { useOwner } from '../lib/owner';

export default function AccountPage() {
  const owner = useOwner();
  if (owner.kind !== 'account') return <SignedOut />;

  return (
    <Page title={list.title} description={list.description}>
      <AccountHeader />
      <OfferRecovery />
      <Shortener />
      <Overview key={`all ${owner.token}`} owner={owner} />
      <LinkList key={owner.token} owner={owner} Chart={SmallBars} />
    </Page>
  );
}
