import { ButtonLink } from '../components/Button';
import { Mark } from '../components/Mark';
import { Page } from '../components/Page';
import { paths } from '../lib/paths';
import styles from './centered.module.css';
import { notFound } from './messages';

export function NotFoundPage() {
  return (
    <Page title={notFound.title} description={notFound.description}>
      <div className={styles.centered}>
        <Mark kind="crossed" size="lost" />
        <h1>{notFound.heading}</h1>
        <p className={styles.lead}>{notFound.text}</p>
        <ButtonLink variant="primary" to={paths.home}>
          {notFound.goHome}
        </ButtonLink>
      </div>
    </Page>
  );
}
