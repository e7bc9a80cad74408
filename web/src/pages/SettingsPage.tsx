import { Link, useNavigate } from 'react-router-dom';
import { Page } from '../components/Page';
import { SignedOut } from '../components/SignedOut';
import { DownloadLinks } from '../features/settings/DownloadLinks';
import { ChangePasswordForm } from '../features/session/ChangePasswordForm';
import { RemoveAccount } from '../features/session/RemoveAccount';
import { useOwner } from '../lib/owner';
import { paths } from '../lib/paths';
import styles from './SettingsPage.module.css';

export default function SettingsPage() {
  const owner = useOwner();
  const navigate = useNavigate();
  if (owner.kind !== 'account') return <SignedOut />;

  return (
    <Page
      title="Settings"
      description="Change your password, download your links or remove your account."
    >
      <h1>Settings</h1>
      <p>
        <Link to={paths.account}>Your links</Link>
      </p>
      <section className={styles.section} aria-labelledby="password">
        <h2 id="password">Change your password</h2>
        <ChangePasswordForm account={owner} />
      </section>
      <section className={styles.section} aria-labelledby="download">
        <h2 id="download">Download my links</h2>
        <DownloadLinks account={owner} />
      </section>
      <section className={styles.section} aria-labelledby="remove">
        <h2 id="remove">Remove your account</h2>
        <RemoveAccount
          account={owner}
          onRemoved={() => void navigate(paths.home, { replace: true })}
        />
      </section>
    </Page>
  );
}
