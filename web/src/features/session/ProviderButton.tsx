import { useState } from 'react';
import { failureCode } from '../../api';
import { goToProvider } from '../../api/oidc';
import { Button } from '../../components/Button';
import { providerName } from '../../lib/oidc';
import { useHere } from '../../lib/useHere';
import { failureText } from './failureText';
import styles from './Form.module.css';
import { oidc as texts } from './oidcMessages';

interface ProviderButtonProps {
  /** The page to go on to after the login. */
  to: string;
  /** The token of an invitation. */
  invitation?: string | undefined;
}

/** Leaves for the OpenID Connect provider, to log in there. Shows nothing if there is none. */
export function ProviderButton({ to, invitation = '' }: ProviderButtonProps) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState('');
  const isHere = useHere();
  const name = providerName();

  const go = async () => {
    setBusy(true);
    setFailed('');
    try {
      await goToProvider({ to, token: null, invitation: invitation || null });
    } catch (error) {
      const code = failureCode(error);
      const expected = code === 'unavailable' || code === 'off';
      if (!expected) console.error(error);
      if (!isHere()) return;
      setBusy(false);
      setFailed(expected ? texts[code](name) : failureText(error));
    }
  };

  if (name === '') return null;
  return (
    <>
      <div>
        <Button busy={busy} onClick={() => void go()}>
          {texts.button(name)}
        </Button>
      </div>
      <p className={styles.failed} role="alert">
        {failed}
      </p>
    </>
  );
}
