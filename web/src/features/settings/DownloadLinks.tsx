import { useEffect, useRef, useState } from 'react';
import { failureCode } from '../../api';
import { Button } from '../../components/Button';
import { actions } from '../../components/messages';
import { announce } from '../../lib/announce';
import { confirmSessionOf, endSessionOf, type Account } from '../../lib/owner';
import { save } from '../../lib/save';
import { collect, type Progress } from './collect';
import styles from './DownloadLinks.module.css';
import type { Format } from './file';
import { messages } from './messages';

const FORMATS: readonly Format[] = ['csv', 'json'];

/** All links of an account in a file, with every field and in every state. */
export function DownloadLinks({ account }: { account: Account }) {
  const [running, setRunning] = useState<{ format: Format; progress: Progress | null } | null>(
    null,
  );
  const [said, setSaid] = useState('');
  const left = useRef<AbortController>(null);
  useEffect(() => () => left.current?.abort(), []);

  const download = async (format: Format) => {
    const mine = (left.current = new AbortController());
    setSaid('');
    setRunning({ format, progress: null });
    let read = 0;
    try {
      const file = await collect(account, format, mine.signal, (progress) => {
        ({ read } = progress);
        setRunning({ format, progress });
      });
      if (mine.signal.aborted) return;
      confirmSessionOf(account);
      save(file, `atajo-links.${format}`);
      const text = messages.downloaded(read);
      setSaid(text);
      announce(text);
    } catch (error) {
      if (mine.signal.aborted) return;
      const code = failureCode(error);
      if (code === 'invalid-token' || code === 'no-logged') {
        endSessionOf(account);
        return;
      }
      console.error(error);
      setSaid(messages.failed);
      announce(messages.failed);
    } finally {
      if (!mine.signal.aborted) setRunning(null);
    }
  };

  const cancel = () => {
    left.current?.abort();
    setRunning(null);
  };

  return (
    <div className={styles.download}>
      <p>{messages.downloadHint}</p>
      <div className={styles.row}>
        {FORMATS.map((format) => (
          <Button
            key={format}
            busy={running?.format === format}
            aria-label={messages.downloadAs(format.toUpperCase())}
            onClick={() => {
              if (!running) void download(format);
            }}
          >
            {format.toUpperCase()}
          </Button>
        ))}
        {running && <Button onClick={cancel}>{actions.cancel}</Button>}
      </div>
      {running?.progress && (
        <p className={styles.progress}>
          <progress
            aria-label={messages.progress}
            value={running.progress.read}
            max={Math.max(running.progress.total, 1)}
          />
          <span>{messages.progressOf(running.progress.read, running.progress.total)}</span>
        </p>
      )}
      <p>{said}</p>
    </div>
  );
}
