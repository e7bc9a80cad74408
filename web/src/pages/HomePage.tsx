import { Page } from '../components/Page';
import { Shortener } from '../features/shorten/Shortener';
import styles from './HomePage.module.css';
import { Reasons } from './Reasons';

export function HomePage() {
  return (
    <Page
      wide
      title="Short links and QR codes"
      description="Shorten a long link to eight characters, count its visits and make a QR code in your colors. Free, and no account needed."
    >
      <section className={styles.hero}>
        <h1>Long links, cut short.</h1>
        <p className={styles.lead}>
          Paste a link and get eight characters that take people there. Free, and no account needed.
        </p>
        <Shortener wantsScheme focused />
      </section>
      <Reasons />
    </Page>
  );
}
