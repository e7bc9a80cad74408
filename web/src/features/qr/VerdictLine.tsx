import { useEffect } from 'react';
import { Mark } from '../../components/Mark';
import { TextButton } from '../../components/TextButton';
import { announce } from '../../lib/announce';
import { verdicts, wellOnWhite } from './messages';
import type { Verdict } from './verdict';
import styles from './VerdictLine.module.css';

export interface Mend {
  words: string;
  act: () => void;
}

/** Time without another verdict after which a verdict is announced to screen readers. */
const ANNOUNCE_DELAY_MS = 1_000;

interface VerdictLineProps {
  verdict: Verdict | null;
  /** Whether the code has no quiet zone, so that it scans on white only. */
  needsWhite: boolean;
  mend: Mend | null | undefined;
  /** Shown if there is no verdict. */
  hint: string;
  /** The scan distance of a print; empty if it is unknown. */
  reach: string;
}

/** Shows the verdict at once and announces it after a pause. Offers a fix. */
export function VerdictLine({ verdict, needsWhite, mend, hint, reach }: VerdictLineProps) {
  const words = verdict ? wordsOf(verdict, needsWhite) : '';
  useEffect(() => {
    if (words === '') return undefined;
    const timer = setTimeout(() => announce(words), ANNOUNCE_DELAY_MS);
    return () => clearTimeout(timer);
  }, [words]);

  return (
    <div className={styles.line} data-verdict={verdict ?? 'none'}>
      {verdict === 'well' && <Mark kind="level" size="small" />}
      <span className={styles.words}>{words || hint}</span>
      {mend && (
        <TextButton variant="primary" onClick={mend.act}>
          {mend.words}
        </TextButton>
      )}
      <span className={styles.reach}>{reach}</span>
    </div>
  );
}

function wordsOf(verdict: Verdict, needsWhite: boolean): string {
  return verdict === 'well' && needsWhite ? wellOnWhite : verdicts[verdict];
}
