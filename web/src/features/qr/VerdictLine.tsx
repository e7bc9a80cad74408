import { useEffect } from 'react';
import { Mark } from '../../components/Mark';
import { TextButton } from '../../components/TextButton';
import { announce } from '../../lib/announce';
import { verdicts } from './messages';
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
  mend: Mend | null | undefined;
  /** Shown if there is no verdict. */
  hint: string;
  /** The scan distance of a print; empty if it is unknown. */
  reach: string;
}

/** Shows the verdict at once and announces it after a pause. Offers a fix. */
export function VerdictLine({ verdict, mend, hint, reach }: VerdictLineProps) {
  const words = verdict ? verdicts[verdict] : '';
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
        <TextButton look="sign" onClick={mend.act}>
          {mend.words}
        </TextButton>
      )}
      <span className={styles.reach}>{reach}</span>
    </div>
  );
}
