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
  /** Wraps the statistics, once they are known to exist. */
  page: (children: ReactNode) => ReactNode;
  /** Replaces a link without public statistics or that does not exist. */
  otherwise: ReactNode;
}

/**
 * The public statistics of a link, as every visitor sees them. Nothing else of the link is shown.
 */
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
