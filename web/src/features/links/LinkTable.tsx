import { memo, useCallback, useLayoutEffect, useRef, useState } from 'react';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import type { ProfileLink } from '../../api';
import { ShortAddress } from '../../components/ShortAddress';
import { TextButton } from '../../components/TextButton';
import { VisuallyHidden } from '../../components/VisuallyHidden';
import { copyWords, useCopy } from '../../components/useCopy';
import { shortAddress } from '../../lib/config';
import { formatMoment, formatNumber, plural } from '../../lib/format';
import styles from './LinkTable.module.css';

/** An estimate; each row is measured when it is shown. */
const ROW = 61;
/** How much of a long link's end stays in sight when its middle is cut. */
const TAIL = 14;

/** What stands before a host: the scheme, and what only looks like a host. */
const BEFORE_HOST = /^[a-z][a-z\d+.-]*:[\\/]*(?:[^\\/?#]*@)?/i;

/** Only the rows in sight are in the document; the page's own scroll moves through them. */
export function LinkTable({ links }: { links: ProfileLink[] }) {
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      if (body.current) setTop(body.current.getBoundingClientRect().top + scrollY);
    };
    measure();
    addEventListener('resize', measure);
    return () => removeEventListener('resize', measure);
  }, []);

  // All rows are laid out anew whenever this is another function.
  const keyOf = useCallback((index: number) => links[index]?.short_link ?? index, [links]);
  const rows = useWindowVirtualizer({
    count: links.length,
    estimateSize: () => ROW,
    overscan: 12,
    scrollMargin: top,
    getItemKey: keyOf,
  });

  return (
    <div role="table" aria-label="Your links" aria-rowcount={links.length + 1}>
      <div role="rowgroup">
        <div role="row" aria-rowindex={1} className={`${styles.row} ${styles.head}`}>
          <span role="columnheader">Short address</span>
          <span role="columnheader">Leads to</span>
          <span role="columnheader">Created</span>
          <span role="columnheader" className={styles.views}>
            Views
          </span>
        </div>
      </div>
      <div
        ref={body}
        role="rowgroup"
        className={styles.body}
        style={{ blockSize: rows.getTotalSize() }}
      >
        {rows.getVirtualItems().map(({ key, index, start }) => {
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
                <Cells link={link} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

const Cells = memo(function Cells({ link }: { link: ProfileLink }) {
  const [copied, copy] = useCopy();
  const created = formatMoment(link.created_at);
  return (
    <>
      <div role="cell" className={styles.code}>
        <TextButton
          look="text"
          title="Click to copy"
          onClick={() => copy(shortAddress(link.short_link))}
        >
          <ShortAddress code={link.short_link} />
        </TextButton>
        {copied !== 'idle' && (
          <span className={styles.copied} aria-hidden="true">
            {copyWords[copied]}
          </span>
        )}
      </div>
      <div role="cell" className={styles.long}>
        <a href={link.long_link} target="_blank" rel="noopener noreferrer" dir="auto">
          <LongLink url={link.long_link} />
        </a>
      </div>
      <div role="cell" className={styles.when}>
        {created && <time dateTime={link.created_at}>{created}</time>}
      </div>
      <div role="cell" className={styles.views}>
        <Views views={link.views} />
      </div>
    </>
  );
});

/** In parts, so that style can say which of them gives way where there is no room. */
function LongLink({ url }: { url: string }) {
  const [before = ''] = BEFORE_HOST.exec(url) ?? [];
  const fromHost = url.slice(before.length);
  return (
    <>
      <span className={styles.front}>
        <span className={styles.before}>{before}</span>
        {fromHost.slice(0, -TAIL)}
      </span>
      <span className={styles.tail}>{fromHost.slice(-TAIL)}</span>
    </>
  );
}

function Views({ views }: { views: number | null }) {
  const known = views !== null;
  return (
    <>
      {known ? formatNumber(views) : <span aria-hidden="true">–</span>}
      <span className={styles.unit}> {known ? plural(views, 'view', 'views') : 'views'}</span>
      {!known && <VisuallyHidden> not known</VisuallyHidden>}
    </>
  );
}
