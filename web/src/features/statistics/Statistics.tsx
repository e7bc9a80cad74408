import { useId, useState, type ReactNode } from 'react';
import { Link } from 'react-router-dom';
import type { Span } from '../../api';
import { Button } from '../../components/Button';
import { actions } from '../../components/messages';
import { Choice } from '../../components/Choice';
import { ShortAddress } from '../../components/ShortAddress';
import { Spinner } from '../../components/Spinner';
import { TextButton } from '../../components/TextButton';
import { linkPath } from '../../lib/edge';
import { loadHosts } from '../../lib/loadHosts';
import type { Owner } from '../../lib/owner';
import { save } from '../../lib/save';
import { usePart } from '../../lib/usePart';
import { Breakdown } from './Breakdown';
import { Chart } from './Chart';
import { DatesForm } from './DatesForm';
import { Figures } from './Figures';
import { messages } from './messages';
import { dimensions, nameOf } from './names';
import { isRecent, namePrevious, recentSpans, useSpan } from './spans';
import styles from './Statistics.module.css';
import { stepsOf } from './steps';
import { StepTable } from './StepTable';
import { tableOf } from './table';
import { useStatistics, type StatisticsState } from './useStatistics';

interface StatisticsProps {
  owner: Owner;
  /** null for all links of the owner. */
  code: string | null;
  title?: string;
}

/** Visits of a link or of all links in a selectable period: figures, a chart and breakdowns. */
export function Statistics({ owner, code, title = messages.title }: StatisticsProps) {
  const id = useId();
  const [span, choose] = useSpan();
  const found = useStatistics(owner, code, span);
  if (found.state === 'no-exist') return null;
  return (
    <section className={styles.statistics} aria-labelledby={id}>
      <div className={styles.bar}>
        <h2 id={id}>{title}</h2>
        <SpanChoice span={span} choose={choose} found={found} />
      </div>
      {found.state === 'loading' && (
        <div className={styles.loading}>
          <Spinner label={messages.loading} />
        </div>
      )}
      {found.state === 'failed' && (
        <div className={styles.failed}>
          <p>{found.tooMany ? messages.tooManyLinks : messages.loadFailed}</p>
          {!found.tooMany && (
            <Button busy={found.again} onClick={found.reload}>
              {actions.tryAgain}
            </Button>
          )}
        </div>
      )}
      {found.state === 'loaded' && (
        <div className={styles.shown} aria-busy={found.isOld || undefined}>
          <Shown found={found} code={code} />
        </div>
      )}
    </section>
  );
}

interface SpanChoiceProps {
  span: Span;
  choose: (span: Span) => void;
  found: StatisticsState;
}

const choices = [...recentSpans, { value: 'dates', text: messages.dates }] as const;

function SpanChoice({ span, choose, found }: SpanChoiceProps) {
  const [choosing, setChoosing] = useState(!isRecent(span));
  const { from = '', to = '' } = found.state === 'loaded' ? found.statistics.range : {};
  return (
    <div className={styles.span}>
      <Choice
        label={messages.period}
        options={choices}
        value={choosing || !isRecent(span) ? 'dates' : span}
        onChange={(value) => {
          setChoosing(value === 'dates');
          if (value !== 'dates') choose(value);
        }}
      />
      {choosing && <DatesForm initial={isRecent(span) ? { from, to } : span} onChoose={choose} />}
    </div>
  );
}

interface ShownProps {
  found: Extract<StatisticsState, { state: 'loaded' }>;
  code: string | null;
}

function Shown({ found: { span, statistics: loaded, before, isLate }, code }: ShownProps) {
  const names = usePart(loadHosts, true);
  const statistics = names?.nameReferrers(loaded) ?? loaded;
  const { range, totals, breakdowns, top = [] } = statistics;
  const { kept_from: keptFrom } = statistics;
  const shown = stepsOf(statistics, before, span);
  const previousName = namePrevious(span);
  const label = messages.peopleBy[range.step];
  return (
    <>
      {isLate && <p role="status">{messages.stale}</p>}
      <Figures statistics={statistics} previousName={previousName} />
      {totals.people + totals.bots === 0 ? (
        <p>{messages.noVisits}</p>
      ) : (
        <>
          <Chart shown={shown} label={label} dotted={before && messages.dotted(previousName)} />
          <ChartTable
            table={<StepTable shown={shown} label={label} previousName={previousName} />}
            onDownload={() =>
              save(tableOf(statistics, shown), `${code ?? 'links'} ${range.from} ${range.to}.csv`)
            }
          />
        </>
      )}
      {totals.people > 0 && (
        <div className={styles.breakdowns}>
          {top.length > 0 && (
            <Breakdown
              title={messages.mostVisited}
              rows={top.map((link) => ({
                key: link.code,
                name: (
                  <Link to={linkPath(link.code)}>
                    <ShortAddress code={link.code} />
                  </Link>
                ),
                people: link.people,
              }))}
              whole={totals.people}
            />
          )}
          {dimensions.map((key) => (
            <Breakdown
              key={key}
              title={messages.dimensions[key]}
              rows={breakdowns[key].map(({ name, people }) => ({
                key: name,
                name: nameOf(key, name),
                people,
              }))}
              whole={breakdowns[key].reduce((sum, { people }) => sum + people, 0)}
            />
          ))}
        </div>
      )}
      <p className={styles.note}>
        {messages.timeZone(range.timezone)}{' '}
        {statistics.series.some(({ start }) => hasPartHours(start)) && `${messages.partHours} `}
        {keptFrom !== undefined && messages.keptFrom(keptFrom)}
      </p>
    </>
  );
}

/** Whether an ISO 8601 time has an offset such as +05:30, which is not a whole number of hours. */
function hasPartHours(start: string): boolean {
  return /[+-]\d\d:?(?!00)\d\d$/.test(start);
}

/** The table of the chart, shown on demand, and the button that downloads it as a file. */
function ChartTable({ table, onDownload }: { table: ReactNode; onDownload: () => void }) {
  const id = useId();
  const [open, setOpen] = useState(false);
  return (
    <div className={styles.behind}>
      <div className={styles.actions}>
        <TextButton aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
          {open ? messages.hideTable : messages.showTable}
        </TextButton>
        <TextButton onClick={onDownload}>{messages.csv}</TextButton>
      </div>
      <div id={id}>{open && table}</div>
    </div>
  );
}
