import { Button, ButtonLink } from '../../components/Button';
import { paths } from '../../lib/paths';
import { endSession, forgetUsername, username } from '../../lib/session';
import styles from './AccountHeader.module.css';

export function AccountHeader() {
  const name = username();
  const logOut = () => {
    forgetUsername();
    endSession();
  };
  return (
    <div className={styles.header}>
      <div className={styles.who}>
        <h1>Your links</h1>
        {name && (
          <p className={styles.name}>
            Logged in as <bdi>{name}</bdi>
          </p>
        )}
      </div>
      <div className={styles.actions}>
        <ButtonLink to={paths.settings}>Settings</ButtonLink>
        <Button onClick={logOut}>Log out</Button>
      </div>
    </div>
  );
}
