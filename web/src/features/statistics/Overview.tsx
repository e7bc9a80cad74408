import { useId, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { failureReason, type Statistics } from '../../api';
import { cache } from '../../api/cache';
import { TextButton } from '../../components/TextButton';
import { useLooked } from '../../lib/looked';
import type { Owner } from '../../lib/owner';
import { usePart } from '../../lib/usePart';
import { messages } from './messages';
import styles from './Overview.module.css';
import { statisticsOf } from './queries';
import { SmallBars } from './SmallBars';
import { USUAL } from './spans';

/** Milliseconds from one question to the next while somebody looks. */
const AGAIN = 30_000;

/** Bare, because what is chained to an import() here becomes a part of it in the build. */
const loadStatistics = () => import('./Statistics');

/** The last 30 days of all links of an owner in one line, and behind it all there is to know. */
export function Overview({ owner }: { owner: Owner }) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const part = usePart(loadStatistics, open);
  const looked = useLooked();
  const { data, isError, error } = useQuery(
    { ...statisticsOf(owner, null, USUAL), refetchInterval: looked && AGAIN },
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
            look="sign"
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
        messages.periods[USUAL],
        <span className={styles.quiet}>
          {messages.countDailyVisitors(totals.visitors)}, {messages.countBots(totals.bots)}
        </span>,
      )}
    </p>
  );
}
