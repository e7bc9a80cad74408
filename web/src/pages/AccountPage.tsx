import { Navigate } from 'react-router-dom';
import { Page } from '../components/Page';
import { AccountLinks } from '../features/account/AccountLinks';
import { AccountHeader } from '../features/account/AccountHeader';
import { Shortener } from '../features/shorten/Shortener';
import { useOwner } from '../lib/owner';
import { paths } from '../lib/paths';

export default function AccountPage() {
  const owner = useOwner();
  if (owner.kind !== 'account') return <Navigate to={paths.home} replace />;

  return (
    <Page title="My account" description="Your short links, where they lead and their views.">
      <AccountHeader />
      <AccountLinks
        key={owner.token}
        owner={owner}
        whenEmpty={(reload) => <Shortener onShortened={reload} />}
      />
    </Page>
  );
}
