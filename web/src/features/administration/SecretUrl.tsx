import { Button } from '../../components/Button';
import { copyWords, useCopy } from '../../components/useCopy';
import styles from './Administration.module.css';
import { secrets as texts } from './messages';

interface SecretUrlProps {
  url: string;
  /** What the URL is for. */
  text: string;
  onDone: () => void;
}

/** A URL that is a secret and is shown only once, to be copied and sent. */
export function SecretUrl({ url, text, onDone }: SecretUrlProps) {
  const [copied, copy] = useCopy();
  return (
    <div className={styles.stack}>
      <p>{text}</p>
      <code className={styles.url} translate="no">
        {url}
      </code>
      <div className={styles.actions}>
        <Button variant="primary" onClick={() => copy(url)}>
          {copied === 'idle' ? texts.copy : copyWords[copied]}
        </Button>
        <Button onClick={onDone}>{texts.done}</Button>
      </div>
    </div>
  );
}
