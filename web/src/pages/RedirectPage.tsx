import { useState } from 'react';
import { Link, useParams } from 'react-router-dom';
import { ButtonLink } from '../components/Button';
import { Mark } from '../components/Mark';
import { Page } from '../components/Page';
import { messages } from '../features/redirect/messages';
import type { Over } from '../features/redirect/over';
import { Redirecting } from '../features/redirect/Redirecting';
import { WhyBlocked } from '../features/redirect/WhyBlocked';
import { addressedCode } from '../lib/codes';
import { previewPath } from '../lib/edge';
import { paths } from '../lib/paths';
import styles from './centered.module.css';

export default function RedirectPage() {
  const { '*': rest = '', shortLink = rest } = useParams();
  const code = addressedCode(shortLink) ?? shortLink;
  return <Followed key={code} code={code} />;
}

/** A page while the link is resolved, and another one if it no longer redirects. */
function Followed({ code }: { code: string }) {
  const [over, setOver] = useState<Over | null>(null);
  if (over) return <OverPage key="over" code={code} over={over} />;
  return (
    <Page title={messages.title} description={messages.description}>
      <div className={styles.centered}>
        <Mark kind="bent" size="lost" walking />
        <h1>{messages.title}</h1>
        <Redirecting code={code} onOver={setOver} />
      </div>
    </Page>
  );
}

/**
 * The page of a link that no longer redirects. Its preview names only the host of a blocked link,
 * and does not redirect, either.
 */
function OverPage({ code, over: { message, blocked } }: { code: string; over: Over }) {
  return (
    <Page title={message.replace(/\.$/, '')} description={message}>
      <div className={styles.centered}>
        <h1>{message}</h1>
        {blocked && (
          <p className={styles.lead}>
            <WhyBlocked />
          </p>
        )}
        <ButtonLink variant="primary" to={paths.home}>
          {messages.goHome}
        </ButtonLink>
        <Link to={previewPath(code)}>{messages.showPreview}</Link>
      </div>
    </Page>
  );
}
