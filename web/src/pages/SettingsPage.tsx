import { Link, useNavigate } from 'react-router-dom';
import { Page } from '../components/Page';
import { SignedOut } from '../components/SignedOut';
import { DownloadLinks } from '../features/export/DownloadLinks';
import { messages as exports } from '../features/export/messages';
import { messages } from '../features/settings/messages';
import { ChangePasswordForm } from '../features/session/ChangePasswordForm';
import { account } from '../features/session/messages';
import { RemoveAccount } from '../features/session/RemoveAccount';
import { useOwner } from '../lib/owner';
import { paths } from '../lib/paths';
import styles from './SettingsPage.module.css';

export default function SettingsPage() {
  const owner = useOwner();
  const navigate = useNavigate();
  if (owner.kind !== 'account') return <SignedOut />;

  return (
    <Page title={messages.title} description={messages.description}>
      <h1>{messages.title}</h1>
      <p>
        <Link to={paths.account}>{messages.yourLinks}</Link>
      </p>
      <section className={styles.section} aria-labelledby="password">
        <h2 id="password">{account.changePassword}</h2>
        <ChangePasswordForm account={owner} />
      </section>
      <section className={styles.section} aria-labelledby="download">
        <h2 id="download">{exports.download}</h2>
        <DownloadLinks account={owner} />
      </section>
      <section className={styles.section} aria-labelledby="remove">
        <h2 id="remove">{account.deleteAccount}</h2>
        <RemoveAccount
          account={owner}
          onRemoved={() => void navigate(paths.home, { replace: true })}
        />
      </section>
    </Page>
  );
}
