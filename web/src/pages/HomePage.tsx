import { Offered } from '../components/Offered';
import { Page } from '../components/Page';
import { Shortener } from '../features/shorten/Shortener';
import styles from './HomePage.module.css';
import { home } from './messages';
import { Reasons } from './Reasons';

export function HomePage() {
  return (
    <Page wide title={home.title} description={home.description} offer={home.noAccountNeeded}>
      <section className={styles.hero}>
        <h1>{home.heading}</h1>
        <Offered where="guest-links">
          <p className={styles.lead}>{home.lead}</p>
        </Offered>
        <Offered where="no-guest-links">
          <p className={styles.lead}>{home.leadForAccounts}</p>
        </Offered>
        <Shortener wantsScheme focused />
      </section>
      <Reasons />
    </Page>
  );
}
