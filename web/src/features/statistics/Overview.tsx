import { useId, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { failureReason, type Statistics } from '../../api';
import { cache } from '../../api/cache';
import { TextButton } from '../../components/TextButton';
import { usePageActive } from '../../lib/looked';
import type { Owner } from '../../lib/owner';
import { usePart } from '../../lib/usePart';
import { messages } from './messages';
import styles from './Overview.module.css';
import { statisticsOf } from './queries';
import { SmallBars } from './SmallBars';
import { DEFAULT_SPAN } from './spans';

/** Milliseconds between two requests while the page has the user's attention. */
const REFETCH_INTERVAL = 30_000;

/** Nothing is chained to the import(): the build would make it part of the import(). */
const loadStatistics = () => import('./Statistics');

/**
 * The last 30 days of all links of an owner in one line, with a button that shows all statistics.
 */
export function Overview({ owner }: { owner: Owner }) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const part = usePart(loadStatistics, open);
  const isActive = usePageActive();
  const { data, isError, error } = useQuery(
    { ...statisticsOf(owner, null, DEFAULT_SPAN), refetchInterval: isActive && REFETCH_INTERVAL },
    cache,
  );
  const tooMany = failureReason(error) === 'TOO_MANY_LINKS';
  return (
    <section className={styles.overview} aria-label={messages.allLinks}>
      <div className={styles.row}>
        {data ? (
          <>
            <span className={styles.bars}>
              <SmallBars values={data.statistics.series.map((step) => step.people)} />
            </span>
            <Figures {...data.statistics} />
          </>
        ) : (
          isError && (
            <p className={styles.quiet}>{tooMany ? messages.tooManyLinks : messages.loadFailed}</p>
          )
        )}
        {!tooMany && (
          <TextButton
            variant="primary"
            aria-expanded={open}
            aria-controls={id}
            onClick={() => setOpen(!open)}
          >
            {open ? messages.hideStatistics : messages.allStatistics}
          </TextButton>
        )}
      </div>
      <div id={id}>
        {open && part && (
          <part.Statistics owner={owner} code={null} title={messages.allStatistics} />
        )}
      </div>
    </section>
  );
}

function Figures({ totals }: Statistics) {
  return (
    <p>
      {messages.summary(
        <strong>{messages.countPeople(totals.people)}</strong>,
        messages.periods[DEFAULT_SPAN],
        <span className={styles.quiet}>
          {messages.countDailyVisitors(totals.visitors)}, {messages.countBots(totals.bots)}
        </span>,
      )}
    </p>
  );
}
