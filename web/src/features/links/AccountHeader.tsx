import { logOut } from '../../api/logOut';
import { Button, ButtonLink } from '../../components/Button';
import { hasAdminPages } from '../../lib/config';
import { forgetImportJob } from '../../lib/importJob';
import { paths } from '../../lib/paths';
import { forgetUsername, isAdministrator, username } from '../../lib/session';
import styles from './AccountHeader.module.css';
import { list } from './messages';

export function AccountHeader() {
  const name = username();
  const leave = () => {
    forgetUsername();
    forgetImportJob();
    logOut();
  };
  return (
    <div className={styles.header}>
      <div className={styles.who}>
        <h1>{list.heading}</h1>
        {name && <p className={styles.name}>{list.loggedInAs(<bdi>{name}</bdi>)}</p>}
      </div>
      <div className={styles.actions}>
        {isAdministrator() && hasAdminPages() && (
          <ButtonLink to={paths.admin}>{list.administration}</ButtonLink>
        )}
        <ButtonLink to={paths.import}>{list.importLinks}</ButtonLink>
        <ButtonLink to={paths.settings}>{list.settings}</ButtonLink>
        <Button onClick={leave}>{list.logOut}</Button>
      </div>
    </div>
  );
}
