import { useState } from 'react';
import { useParams } from 'react-router-dom';
import { ButtonLink } from '../components/Button';
import { Mark } from '../components/Mark';
import { Page } from '../components/Page';
import type { Over } from '../features/redirect/over';
import { Redirecting } from '../features/redirect/Redirecting';
import { WhyBlocked } from '../features/redirect/WhyBlocked';
import { paths } from '../lib/paths';
import styles from './centered.module.css';

export default function RedirectPage() {
  const { shortLink = '' } = useParams();
  return <Followed key={shortLink} code={shortLink} />;
}

/** A page while the link is looked up, and another one where it leads nowhere any more. */
function Followed({ code }: { code: string }) {
  const [over, setOver] = useState<Over | null>(null);
  if (over) return <OverPage key="over" over={over} />;
  return (
    <Page title="Redirecting..." description="A short link on its way to where it leads.">
      <div className={styles.centered}>
        <Mark kind="bent" size="lost" walking />
        <h1>Redirecting...</h1>
        <Redirecting code={code} onOver={setOver} />
      </div>
    </Page>
  );
}

function OverPage({ over: { message, blocked } }: { over: Over }) {
  return (
    <Page title={message.replace(/\.$/, '')} description={message}>
      <div className={styles.centered}>
        <h1>{message}</h1>
        {blocked && (
          <p className={styles.lead}>
            <WhyBlocked />
          </p>
        )}
        <ButtonLink look="sign" to={paths.home}>
          GO HOME
        </ButtonLink>
      </div>
    </Page>
  );
}
