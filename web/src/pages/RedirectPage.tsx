import { useParams } from 'react-router-dom';
import { Mark } from '../components/Mark';
import { Page } from '../components/Page';
import { Redirecting } from '../features/redirect/Redirecting';
import styles from './centered.module.css';

export function RedirectPage() {
  const { shortLink = '' } = useParams();
  return (
    <Page title="Redirecting..." description="A short link on its way to where it leads.">
      <div className={styles.centered}>
        <Mark kind="bent" size="lost" walking />
        <h1>Redirecting...</h1>
        <Redirecting key={shortLink} code={shortLink} />
      </div>
    </Page>
  );
}
