import {
  useCallback,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
  type RefObject,
} from 'react';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import type { Link, LinkState } from '../../api';
import { Button } from '../../components/Button';
import { actions as names } from '../../components/messages';
import { LinkRow, UndoLine, type SmallChart, type RowActions } from './LinkRow';
import styles from './LinkTable.module.css';
import { list } from './messages';
import { belongs } from './moves';

/** Estimated row height in pixels. Each row is measured when it is shown. */
const ROW = 74;
/** Number of rows before the last one at which more links are loaded. */
const AHEAD = 30;

interface LinkTableProps {
  Chart: SmallChart;
  links: Link[];
  /** Number of links, including those not loaded yet. */
  total: number;
  /** State filter of the list; null for every state except removed. */
  state: LinkState | null;
  selectedCodes: ReadonlySet<string>;
  actions: RowActions;
  touchedRef: RefObject<string | null>;
  rest: 'none' | 'available' | 'loading' | 'failed';
  loadMore: () => void;
}

/** The rows of the list. Only visible rows are in the document; they scroll with the page. */
export function LinkTable(props: LinkTableProps) {
  const { Chart, links, total, state, selectedCodes, actions, touchedRef, rest, loadMore } = props;
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      if (body.current) setTop(body.current.getBoundingClientRect().top + scrollY);
    };
    measure();
    // Actions above the list change the height there.
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    addEventListener('resize', measure);
    return () => {
      observer.disconnect();
      removeEventListener('resize', measure);
    };
  }, []);

  // If this function changes, all rows are laid out again.
  const keyOf = useCallback((index: number) => links[index]?.code ?? index, [links]);
  const rows = useWindowVirtualizer({
    count: links.length,
    estimateSize: () => ROW,
    overscan: 12,
    scrollMargin: top,
    getItemKey: keyOf,
  });
  const shown = rows.getVirtualItems();

  const last = shown.at(-1)?.index ?? 0;
  const isNear = rest === 'available' && last >= links.length - AHEAD;
  const more = useEffectEvent(loadMore);
  useEffect(() => {
    if (isNear) more();
  }, [isNear, links.length]);

  return (
    <div>
      <div
        role="table"
        aria-label={list.heading}
        aria-rowcount={total + 1}
        className={styles.table}
      >
        <div role="rowgroup" className={styles.head}>
          <div role="row" aria-rowindex={1}>
            <span role="columnheader">{list.columns.selected}</span>
            <span role="columnheader">{list.columns.link}</span>
            <span role="columnheader">{list.columns.views}</span>
            <span role="columnheader">{list.columns.actions}</span>
          </div>
        </div>
        <div
          ref={body}
          role="rowgroup"
          className={styles.body}
          style={{ blockSize: rows.getTotalSize() }}
        >
          {shown.map(({ key, index, start }) => {
            const link = links[index];
            return (
              link && (
                <div
                  key={key}
                  ref={rows.measureElement}
                  data-index={index}
                  role="row"
                  aria-rowindex={index + 2}
                  className={styles.row}
                  style={{ transform: `translateY(${start - top}px)` }}
                >
                  {belongs(link, state) ? (
                    <LinkRow
                      link={link}
                      Chart={Chart}
                      isSelected={selectedCodes.has(link.code)}
                      actions={actions}
                      touchedRef={touchedRef}
                    />
                  ) : (
                    <UndoLine link={link} actions={actions} touchedRef={touchedRef} />
                  )}
                </div>
              )
            );
          })}
        </div>
      </div>
      {rest !== 'none' && (
        <div className={styles.more}>
          {rest === 'failed' && <p role="alert">{list.restFailed}</p>}
          <Button busy={rest === 'loading'} onClick={loadMore}>
            {rest === 'failed' ? names.tryAgain : names.showMore}
          </Button>
        </div>
      )}
    </div>
  );
}
