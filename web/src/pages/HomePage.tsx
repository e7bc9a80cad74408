import { Page } from '../components/Page';
import { Shortener } from '../features/shorten/Shortener';
import styles from './HomePage.module.css';
import { home } from './messages';
import { Reasons } from './Reasons';

export function HomePage() {
  return (
    <Page wide title={home.title} description={home.description}>
      <section className={styles.hero}>
        <h1>{home.heading}</h1>
        <p className={styles.lead}>{home.lead}</p>
        <Shortener wantsScheme focused />
      </section>
      <Reasons />
    </Page>
  );
}
