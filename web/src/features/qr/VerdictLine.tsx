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

/** Milliseconds without another verdict after which one is said. */
const REST = 1_000;

interface VerdictLineProps {
  verdict: Verdict | null;
  mend: Mend | null | undefined;
  /** Where there is nothing to judge. */
  hint: string;
  /** From how far a print is read; empty where it is not. */
  reach: string;
}

/** Whether the code scans, and what would mend it. The eye sees it at once; it is said after a rest. */
export function VerdictLine({ verdict, mend, hint, reach }: VerdictLineProps) {
  const words = verdict ? verdicts[verdict] : '';
  useEffect(() => {
    if (words === '') return undefined;
    const timer = setTimeout(() => announce(words), REST);
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
