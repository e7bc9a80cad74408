import { ButtonLink } from '../components/Button';
import { Mark } from '../components/Mark';
import { Page } from '../components/Page';
import { paths } from '../lib/paths';
import styles from './centered.module.css';

export function NotFoundPage() {
  return (
    <Page title="Page not found" description="There is no page and no short link at this address.">
      <div className={styles.centered}>
        <Mark kind="crossed" size="lost" />
        <h1>PAGE NOT FOUND</h1>
        <p className={styles.lead}>There is no path here. The link may be mistyped or gone.</p>
        <ButtonLink look="sign" to={paths.home}>
          GO HOME
        </ButtonLink>
      </div>
    </Page>
  );
}
