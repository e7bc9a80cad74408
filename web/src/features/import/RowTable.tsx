import { useCallback, useLayoutEffect, useRef, useState } from 'react';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import type { Verdict } from '../../api';
import { messages, notes, stateNames, tableColumns, verdictNames } from './messages';
import type { Row } from './parsed';
import { actionOf, type Choices } from './plan';
import { actionText, causeOf } from './rowTexts';
import styles from './RowTable.module.css';

/** Estimated row height in pixels. Each row is measured when it is shown. */
const ROW = 92;

interface RowTableProps {
  rows: readonly Row[];
  verdicts: readonly Verdict[];
  choices: Choices;
  /** Indexes of the rows to show. */
  indexes: readonly number[];
}

/** The checked rows. Only visible rows are in the document; they scroll with the page. */
export function RowTable({ rows, verdicts, choices, indexes }: RowTableProps) {
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      if (body.current) setTop(body.current.getBoundingClientRect().top + scrollY);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);

  const keyOf = useCallback((index: number) => indexes[index] ?? index, [indexes]);
  const virtual = useWindowVirtualizer({
    count: indexes.length,
    estimateSize: () => ROW,
    overscan: 8,
    scrollMargin: top,
    getItemKey: keyOf,
  });

  return (
    <div
      role="table"
      aria-label={messages.rowsList}
      aria-rowcount={indexes.length + 1}
      className={styles.table}
    >
      <div role="rowgroup" className={styles.head}>
        <div role="row" aria-rowindex={1}>
          {tableColumns.map((name) => (
            <span key={name} role="columnheader">
              {name}
            </span>
          ))}
        </div>
      </div>
      <div
        ref={body}
        role="rowgroup"
        className={styles.body}
        style={{ blockSize: virtual.getTotalSize() }}
      >
        {virtual.getVirtualItems().map(({ key, index, start }) => {
          const at = indexes[index] ?? 0;
          const row = rows[at];
          return (
            row && (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                role="row"
                aria-rowindex={index + 2}
                className={styles.row}
                style={{ transform: `translateY(${start - top}px)` }}
              >
                <CheckedRow row={row} verdict={verdicts[at] ?? 'unreadable'} choices={choices} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

interface CheckedRowProps {
  row: Row;
  verdict: Verdict;
  choices: Choices;
}

function CheckedRow({ row, verdict, choices }: CheckedRowProps) {
  const texts = [
    causeOf(row, verdict),
    actionText(row, verdict, actionOf(row, verdict, choices)),
    ...row.notes.map((note) => notes[note]),
  ];
  return (
    <>
      <span role="cell" className={styles.place}>
        {messages.row(row.place)}
      </span>
      <span role="cell" className={styles.link}>
        {row.code === null ? (
          <span className={styles.quiet}>{messages.noEnding}</span>
        ) : (
          <bdi className={styles.code} translate="no">
            {row.code}
          </bdi>
        )}
        <bdi className={styles.destination} title={row.destination} translate="no">
          {row.destination}
        </bdi>
      </span>
      <span role="cell" className={styles.verdict}>
        <b>{verdictNames[verdict]}</b>
        {row.state !== null && ` · ${stateNames[row.state]}`}
      </span>
      <span role="cell" className={styles.cause}>
        {texts.filter((text) => text !== '').join(' ')}
      </span>
    </>
  );
}
