import { Navigate } from 'react-router-dom';
import { Page } from '../components/Page';
import { AccountHeader } from '../features/links/AccountHeader';
import { LinkList } from '../features/links/LinkList';
import { Shortener } from '../features/shorten/Shortener';
import { useOwner } from '../lib/owner';
import { paths } from '../lib/paths';

export default function AccountPage() {
  const owner = useOwner();
  if (owner.kind !== 'account') return <Navigate to={paths.home} replace />;

  return (
    <Page title="My account" description="Your short links, where they lead and their views.">
      <AccountHeader />
      <LinkList key={owner.token} owner={owner} whenEmpty={<Shortener />} />
    </Page>
  );
}
