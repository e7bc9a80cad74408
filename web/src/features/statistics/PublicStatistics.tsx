import type { ReactNode } from 'react';
import { ShortAddress } from '../../components/ShortAddress';
import { Spinner } from '../../components/Spinner';
import { nobody } from '../../lib/owner';
import { messages } from './messages';
import styles from './PublicStatistics.module.css';
import { useSpan } from './spans';
import { Statistics } from './Statistics';
import { useStatistics } from './useStatistics';

interface PublicStatisticsProps {
  code: string;
  /** Around the statistics, once it is known that there are some. */
  page: (children: ReactNode) => ReactNode;
  /** In the place of a link whose statistics are not public, or of none. */
  otherwise: ReactNode;
}

/** What everybody sees of a link whose owner shows its statistics: these, and nothing else of it. */
export function PublicStatistics({ code, page, otherwise }: PublicStatisticsProps) {
  const [span] = useSpan();
  const { state } = useStatistics(nobody, code, span);
  if (state === 'no-exist') return otherwise;
  if (state === 'loading') {
    return (
      <div className={styles.loading}>
        <Spinner label={messages.loading} />
      </div>
    );
  }
  return page(
    <>
      <h1 className={styles.address}>
        <ShortAddress code={code} />
      </h1>
      <Statistics owner={nobody} code={code} />
    </>,
  );
}
