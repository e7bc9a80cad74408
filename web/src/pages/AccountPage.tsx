import { Page } from '../components/Page';
import { SignedOut } from '../components/SignedOut';
import { AccountHeader } from '../features/links/AccountHeader';
import { LinkList } from '../features/links/LinkList';
import { Shortener } from '../features/shorten/Shortener';
import { useOwner } from '../lib/owner';

export default function AccountPage() {
  const owner = useOwner();
  if (owner.kind !== 'account') return <SignedOut />;

  return (
    <Page title="My account" description="Your short links, where they lead and their views.">
      <AccountHeader />
      <Shortener />
      <LinkList key={owner.token} owner={owner} />
    </Page>
  );
}
