import { useEffect, useRef, useState } from 'react';
import { failureCode } from '../../api';
import { Button } from '../../components/Button';
import { actions } from '../../components/messages';
import { announce } from '../../lib/announce';
import { confirmSessionOf, endSessionOf, type Account } from '../../lib/owner';
import { save } from '../../lib/save';
import type { Progress } from './collect';
import styles from './DownloadLinks.module.css';
import { downloadEverything, downloadLinks } from './download';
import type { Format } from './files/links';
import { messages } from './messages';

type Download = Format | 'zip';

interface Running {
  download: Download;
  progress: Progress | null;
  /** Whether all links have been read and files are being written. */
  isWriting: boolean;
}

const FORMATS: readonly Format[] = ['csv', 'json'];

/** Downloads all links of an account in one file, or in a ZIP with everything needed to leave. */
export function DownloadLinks({ account }: { account: Account }) {
  const [running, setRunning] = useState<Running | null>(null);
  const [said, setSaid] = useState('');
  const controller = useRef<AbortController>(null);
  useEffect(() => () => controller.current?.abort(), []);

  const start = async (download: Download) => {
    const mine = (controller.current = new AbortController());
    const { signal } = mine;
    setSaid('');
    setRunning({ download, progress: null, isWriting: false });
    let count = 0;
    const onProgress = (progress: Progress) => {
      count = progress.read;
      if (!signal.aborted) setRunning({ download, progress, isWriting: false });
    };
    const onWritten = (progress: Progress) => {
      if (!signal.aborted) setRunning({ download, progress, isWriting: true });
    };
    try {
      const file =
        download === 'zip'
          ? await downloadEverything(account, signal, onProgress, onWritten)
          : await downloadLinks(account, download, signal, onProgress);
      if (mine.signal.aborted) return;
      confirmSessionOf(account);
      save(file, `atajo-links.${download}`);
      const text = messages.downloaded(count);
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
    controller.current?.abort();
    setRunning(null);
  };

  const begin = (download: Download) => {
    if (!running) void start(download);
  };

  return (
    <div className={styles.download}>
      <p>{messages.downloadHint}</p>
      <div className={styles.row}>
        {FORMATS.map((format) => (
          <Button
            key={format}
            busy={running?.download === format}
            aria-label={messages.downloadAs(format.toUpperCase())}
            onClick={() => begin(format)}
          >
            {format.toUpperCase()}
          </Button>
        ))}
      </div>
      <p>{messages.everythingHint}</p>
      <div className={styles.row}>
        <Button busy={running?.download === 'zip'} onClick={() => begin('zip')}>
          {messages.everything}
        </Button>
        {running && <Button onClick={cancel}>{actions.cancel}</Button>}
      </div>
      {running?.progress && (
        <p className={styles.progress}>
          <progress
            aria-label={messages.progress}
            value={running.progress.read}
            max={Math.max(running.progress.total, 1)}
          />
          <span>{progressText(running.progress, running.isWriting)}</span>
        </p>
      )}
      <p>{said}</p>
    </div>
  );
}

function progressText({ read, total }: Progress, isWriting: boolean): string {
  return isWriting ? messages.writing(read, total) : messages.progressOf(read, total);
}
