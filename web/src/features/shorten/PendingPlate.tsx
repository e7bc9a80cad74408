import { useEffect, useState } from 'react';
import { actions } from '../../components/messages';
import { Spinner } from '../../components/Spinner';
import { TextButton } from '../../components/TextButton';
import { useOnline } from '../../lib/online';
import { messages } from './messages';
import styles from './SignPlate.module.css';
import type { Wait } from './wait';

interface PendingPlateProps {
  url: string;
  /**
   * The wait that the server asked for. After the first one, the button to cancel stays to the end.
   */
  wait: Wait | null;
  onGiveUp: () => void;
}

/** Replaces the plate while its short URL is created. */
export function PendingPlate({ url, wait, onGiveUp }: PendingPlateProps) {
  const online = useOnline();
  const working = online ? messages.working : messages.waiting;
  const until = wait?.until ?? null;

  return (
    <div className={styles.plate}>
      {/* Screen readers announce the duration, not each second of it. */}
      <Spinner label={wait && until !== null ? wait.words : working} />
      <span className={styles.text}>
        <span className={styles.words} aria-hidden="true">
          {wait && until !== null ? (
            <Countdown key={until} until={until} words={wait.words} />
          ) : (
            working
          )}
        </span>
        <span className={styles.to} dir="auto">
          {url}
        </span>
      </span>
      {(wait || !online) && (
        <span className={styles.giveUp}>
          <TextButton variant="primary" onClick={onGiveUp}>
            {actions.cancel}
          </TextButton>
        </span>
      )}
    </div>
  );
}

function Countdown({ until, words }: { until: number; words: string }) {
  const [now, setNow] = useState(words);
  useEffect(() => {
    const timer = setInterval(() => setNow(messages.retrying(until - Date.now())), 1_000);
    return () => clearInterval(timer);
  }, [until]);
  return now;
}
