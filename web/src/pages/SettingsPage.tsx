import type { ReactNode } from 'react';
import { Link, useNavigate } from 'react-router-dom';
import { Page } from '../components/Page';
import { SignedOut } from '../components/SignedOut';
import { ApiKeys } from '../features/apiKeys/ApiKeys';
import { messages as apiKeys } from '../features/apiKeys/messages';
import { DownloadLinks } from '../features/export/DownloadLinks';
import { messages as exports } from '../features/export/messages';
import { messages } from '../features/settings/messages';
import { ChangePasswordForm } from '../features/session/ChangePasswordForm';
import { account } from '../features/session/messages';
import { Connections } from '../features/session/Connections';
import { connections } from '../features/session/oidcMessages';
import { passkeys } from '../features/session/passkeyMessages';
import { Passkeys } from '../features/session/Passkeys';
import { RecoveryCodes } from '../features/session/RecoveryCodes';
import { recovery } from '../features/session/recoveryMessages';
import { RemoveAccount } from '../features/session/RemoveAccount';
import { messages as sessions } from '../features/sessions/messages';
import { SessionList } from '../features/sessions/SessionList';
import { providerName } from '../lib/oidc';
import { useOwner } from '../lib/owner';
import { paths } from '../lib/paths';
import { hasPasskeys } from '../lib/webAuthn';
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
      <Section id="password" title={account.password}>
        <ChangePasswordForm account={owner} />
      </Section>
      {hasPasskeys() && (
        <Section id="passkeys" title={passkeys.title}>
          <Passkeys account={owner} />
        </Section>
      )}
      {providerName() !== '' && (
        <Section id="connections" title={connections.title(providerName())}>
          <Connections account={owner} />
        </Section>
      )}
      <Section id="recovery-codes" title={recovery.title}>
        <RecoveryCodes account={owner} />
      </Section>
      <Section id="sessions" title={sessions.title}>
        <SessionList account={owner} />
      </Section>
      <Section id="api-keys" title={apiKeys.title}>
        <ApiKeys account={owner} />
      </Section>
      <Section id="download" title={exports.download}>
        <DownloadLinks account={owner} />
      </Section>
      <Section id="remove" title={account.deleteAccount}>
        <RemoveAccount
          account={owner}
          onRemoved={() => void navigate(paths.home, { replace: true })}
        />
      </Section>
    </Page>
  );
}

/** A part of the page. Its heading can be linked to by `id`. */
function Section({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  return (
    <section className={styles.section} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
