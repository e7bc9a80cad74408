import { useEffect } from 'react';
import { TextButton } from '../../../components/TextButton';
import { actions } from '../../../components/messages';
import { announce } from '../../../lib/announce';
import { messages } from '../messages';
import { type Level, levels, symbolFor } from '../symbol';
import styles from './ScanNote.module.css';
import type { Scan } from './useScanCode';

interface ScanNoteProps {
  scan: Scan;
  /** The text of the code. */
  text: string;
  hasLogo: boolean;
  /** The level that the user chose; null for automatic. */
  level: Level | null;
}

/** Tells whether the code contains the scan code of the user's own link, and what that gains. */
export function ScanNote({ scan, text, hasLogo, level }: ScanNoteProps) {
  const says = scan.state === 'made' ? scan.url : scan.state === 'failed' ? scan.short : '';
  // With another text in the field, the note would not apply.
  const words = says === text ? wordsOf(scan, hasLogo, level) : '';
  useEffect(() => {
    if (words !== '') announce(words);
  }, [words]);

  if (scan.state === 'none') return null;
  return (
    <p className={styles.note}>
      {scan.state === 'asking' ? (
        <span className={styles.late}>{messages.scanCodeLoading}</span>
      ) : (
        words
      )}
      {words !== '' && scan.state === 'failed' && (
        <TextButton variant="primary" onClick={scan.again}>
          {actions.tryAgain}
        </TextButton>
      )}
    </p>
  );
}

function wordsOf(scan: Scan, hasLogo: boolean, level: Level | null): string {
  if (scan.state === 'failed') return messages.scanCodeFailed;
  if (scan.state !== 'made') return '';
  const [before, now] = [scan.short, scan.url].map((text) => {
    const { modules } = symbolFor(text, hasLogo, level);
    // Without a chosen level, the encoder uses the highest one at which the symbol does not grow.
    const corrects = levels.findLast(
      (one) => symbolFor(text, hasLogo, one).modules === modules && level === null,
    );
    return { modules: modules ?? 0, corrects };
  });
  if (!before || !now) return '';
  if (now.modules !== before.modules) return messages.scanCodeSmaller(now.modules, before.modules);
  return now.corrects === before.corrects
    ? messages.scanCodeSame(now.modules)
    : messages.scanCodeCorrects(now.modules, now.corrects, before.corrects);
}
