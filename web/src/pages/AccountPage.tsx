import { Navigate } from 'react-router-dom';
import { Page } from '../components/Page';
import { AccountLinks } from '../features/account/AccountLinks';
import { AccountHeader } from '../features/account/AccountHeader';
import { Shortener } from '../features/shorten/Shortener';
import { paths } from '../lib/paths';
import { useSession } from '../lib/session';

export default function AccountPage() {
  const session = useSession();
  if (!session) return <Navigate to={paths.home} replace />;

  return (
    <Page title="My account" description="Your short links, where they lead and their views.">
      <AccountHeader />
      <AccountLinks
        key={session.token}
        token={session.token}
        whenEmpty={(reload) => <Shortener onShortened={reload} />}
      />
    </Page>
  );
}
