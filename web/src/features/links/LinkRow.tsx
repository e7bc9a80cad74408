import { memo, useEffect, useRef, type ComponentType, type RefObject } from 'react';
import { Link as RouterLink, useNavigate } from 'react-router-dom';
import type { Link } from '../../api';
import { Checkbox } from '../../components/Checkbox';
import { Menu } from '../../components/Menu';
import { actions as names } from '../../components/messages';
import { ShortAddress } from '../../components/ShortAddress';
import { TextButton } from '../../components/TextButton';
import { VisuallyHidden } from '../../components/VisuallyHidden';
import { copyWords, useCopy } from '../../components/useCopy';
import { shortAddress, shortUrl } from '../../lib/config';
import { linkPath } from '../../lib/edge';
import { formatMoment, formatNumber } from '../../lib/format';
import { paths } from '../../lib/paths';
import { canShare, share } from '../../lib/share';
import styles from './LinkRow.module.css';
import { LongLink } from './LongLink';
import { messages, row } from './messages';
import { current } from './moves';

/** Actions of a row. The functions are stable while the list is mounted. */
export interface RowActions {
  select: (code: string, selected: boolean, through: boolean) => void;
  remove: (link: Link) => void;
  restore: (link: Link) => void;
}

/** A small bar chart of the people of a link per day. */
export type SmallChart = ComponentType<{ values: readonly number[] }>;

interface LinkRowProps {
  link: Link;
  Chart: SmallChart;
  isSelected: boolean;
  actions: RowActions;
  /** Code of the row of the last action. What replaces the row gets the focus. */
  touchedRef: RefObject<string | null>;
}

export const LinkRow = memo(function LinkRow({
  link,
  Chart,
  isSelected,
  actions,
  touchedRef,
}: LinkRowProps) {
  const { code, domain, title, tags, views, recent, long_link } = link;
  const [copied, copy] = useCopy();
  const navigate = useNavigate();
  const place = useRef<HTMLDivElement>(null);
  useTouched(place, code, touchedRef);

  const address = shortAddress(code, domain);
  const url = shortUrl(code, domain);
  const makeQr = { to: paths.qr, state: { url } };
  const items = [
    { text: names.copy, onChoose: () => copy(url) },
    { text: messages.qr, onChoose: () => void navigate(makeQr.to, { state: makeQr.state }) },
    ...(canShare() ? [{ text: names.share, onChoose: () => void share(url) }] : []),
    { text: row.statistics, onChoose: () => void navigate(linkPath(code)) },
    { text: row.edit, onChoose: () => void navigate(linkPath(code)) },
    link.state === 'removed'
      ? { text: messages.restore, onChoose: () => actions.restore(link) }
      : { text: names.remove, onChoose: () => actions.remove(link) },
  ];

  return (
    <>
      <div role="cell" className={styles.select}>
        <Checkbox
          label={row.select(address)}
          labelHidden
          checked={isSelected}
          onChange={({ target, nativeEvent }) =>
            actions.select(code, target.checked, (nativeEvent as MouseEvent).shiftKey)
          }
        />
      </div>
      <div role="cell" className={styles.words}>
        <div ref={place} className={styles.address}>
          <TextButton variant="subtle" title={row.clickToCopy} onClick={() => copy(url)}>
            <ShortAddress code={code} domain={domain} />
          </TextButton>
          {copied !== 'idle' && (
            <span className={styles.copied} aria-hidden="true">
              {copyWords[copied]}
            </span>
          )}
          <StateWords link={link} />
        </div>
        <div className={styles.what}>
          {title !== '' && (
            <>
              <RouterLink to={linkPath(code)} className={styles.title} dir="auto">
                {title}
              </RouterLink>
              <span aria-hidden="true">·</span>
            </>
          )}
          <LongLink url={long_link} />
        </div>
        {tags.length > 0 && (
          <ul className={styles.tags} aria-label={row.tags}>
            {tags.map((tag) => (
              <li key={tag} dir="auto">
                {tag}
              </li>
            ))}
          </ul>
        )}
      </div>
      <div role="cell" className={styles.views}>
        <RouterLink to={linkPath(code)}>
          <span className={styles.chart}>{recent && <Chart values={recent} />}</span>
          <span>
            <Views views={views} /> <VisuallyHidden>{row.of(address)}</VisuallyHidden>
          </span>
        </RouterLink>
      </div>
      <div role="cell" className={styles.actions}>
        <span className={styles.wide}>
          <TextButton variant="primary" onClick={() => copy(url)}>
            {names.copy} <VisuallyHidden>{address}</VisuallyHidden>
          </TextButton>
          <RouterLink className={styles.qr} {...makeQr}>
            {row.qr} <VisuallyHidden>{row.qrOf(address)}</VisuallyHidden>
          </RouterLink>
        </span>
        <Menu label={row.more(address)} items={items} />
      </div>
    </>
  );
});

/** Replaces the row of a removed or restored link until the user leaves the list. */
export function UndoLine({
  link,
  actions,
  touchedRef,
}: Pick<LinkRowProps, 'link' | 'actions' | 'touchedRef'>) {
  const place = useRef<HTMLDivElement>(null);
  useTouched(place, link.code, touchedRef);
  const isRemoved = link.state === 'removed';
  return (
    <div role="cell" className={styles.undo} ref={place}>
      <span>
        {(isRemoved ? row.wasRemoved : row.wasRestored)(
          <ShortAddress code={link.code} domain={link.domain} />,
        )}
      </span>
      <TextButton
        variant="primary"
        onClick={() => (isRemoved ? actions.restore(link) : actions.remove(link))}
      >
        {isRemoved ? names.undo : names.remove}{' '}
        <VisuallyHidden>{shortAddress(link.code, link.domain)}</VisuallyHidden>
      </TextButton>
    </div>
  );
}

function useTouched(
  place: RefObject<HTMLElement | null>,
  code: string,
  touchedRef: RefObject<string | null>,
): void {
  useEffect(() => {
    if (touchedRef.current !== code) return;
    touchedRef.current = null;
    place.current?.querySelector('button')?.focus({ preventScroll: true });
  }, [place, code, touchedRef]);
}

/** Shows the state of a link; nothing for an active link without an expiry date. */
function StateWords({ link }: { link: Link }) {
  const { state, reason, expires_at } = current(link);
  const end = expires_at === null ? null : formatMoment(expires_at);
  if (state === 'blocked') return <span className={styles.state}>{row.blocked(reason)}</span>;
  if (state === 'removed') return <span className={styles.state}>{row.removed}</span>;
  if (state === 'expired') return <span className={styles.state}>{row.expired(end)}</span>;
  return end === null ? null : <span className={styles.state}>{row.expires(end)}</span>;
}

function Views({ views }: { views: number | null }) {
  const known = views !== null;
  return (
    <>
      {known ? formatNumber(views) : <span aria-hidden="true">–</span>}{' '}
      <VisuallyHidden>{known ? row.views(views) : row.viewsUnknown}</VisuallyHidden>
    </>
  );
}
