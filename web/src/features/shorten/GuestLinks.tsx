/** Guest links: links of earlier visits and their actions. Loads for guests only. */
import { useEffect, useId, useState } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link as RouteLink } from 'react-router-dom';
import type { Link } from '../../api';
import { cache } from '../../api/cache';
import { Button } from '../../components/Button';
import { actions } from '../../components/messages';
import { ShortAddress } from '../../components/ShortAddress';
import { Spinner } from '../../components/Spinner';
import { TextButton } from '../../components/TextButton';
import { copyWords, useCopy } from '../../components/useCopy';
import { shortUrl } from '../../lib/config';
import { rememberGuestLinks } from '../../lib/guest';
import type { Guest } from '../../lib/owner';
import { paths } from '../../lib/paths';
import styles from './GuestLinks.module.css';
import { linksOf } from './guestCache';
import { LinkActions, Of, UndoLine, Views } from './LinkActions';
import { messages } from './guestMessages';
import { useResults, type Result } from './ResultsProvider';

/** Number of links that 'Show more' adds. */
const MORE = 20;

/**
 * Actions beside the plate of a link created in this visit, or in its place once it was removed.
 */
export function PlateActions({ result: { code, owner, removed } }: { result: Result }) {
  return owner.kind === 'guest' ? (
    <GuestPlateActions code={code} guest={owner} removed={removed === true} />
  ) : null;
}

function GuestPlateActions({
  code,
  guest,
  removed,
}: {
  code: string;
  guest: Guest;
  removed: boolean;
}) {
  const { setRemoved } = useResults();
  const { data } = useInfiniteQuery(linksOf(guest), cache);
  const link = data?.pages.flatMap(({ links }) => links).find((one) => one.code === code);
  if (removed)
    return <UndoLine code={code} guest={guest} onRestored={() => setRemoved(code, false)} />;
  return (
    <>
      <LinkActions link={link ?? { code }} guest={guest} onRemoved={() => setRemoved(code, true)} />
      {link && <Views code={code} views={link.views} />}
    </>
  );
}

interface GuestLinksProps {
  owner: Guest;
  /** Number of links shown at first. */
  max: number;
}

/** Links created in this browser before this visit. Those of this visit are plates. */
export function GuestLinks({ owner, max }: GuestLinksProps) {
  const id = useId();
  const { results } = useResults();
  const query = useInfiniteQuery(linksOf(owner), cache);
  const [shown, setShown] = useState(max);
  /** Links removed or restored on this page. They keep their positions. */
  const [changed, setChanged] = useState<readonly { link: Link; removed: boolean }[]>([]);
  const total = query.data?.pages.at(-1)?.total;

  useEffect(() => {
    if (total !== undefined) rememberGuestLinks(total);
  }, [total]);

  const setRemoved = (link: Link, removed: boolean) =>
    setChanged((known) => [
      ...known.filter((one) => one.link.code !== link.code),
      { link, removed },
    ]);

  const plates = new Set(results.map(({ code }) => code));
  const loaded = query.data?.pages.flatMap(({ links }) => links) ?? [];
  const known = new Set(loaded.map(({ code }) => code));
  const kept = changed.map(({ link }) => link).filter(({ code }) => !known.has(code));
  const links = (kept.length > 0 ? [...loaded, ...kept].sort(byAge) : loaded).filter(
    ({ code }) => !plates.has(code),
  );
  const visible = links.slice(0, shown);

  const showMore = () => {
    setShown(shown + MORE);
    if (links.length < shown + MORE && query.hasNextPage) void query.fetchNextPage();
  };

  if (query.isPending)
    return (
      <div className={styles.loading}>
        <Spinner label={messages.loading} />
      </div>
    );
  if (!query.data)
    return (
      <div className={styles.failed}>
        <p>{messages.loadFailed}</p>
        <Button busy={query.isFetching} onClick={() => void query.refetch()}>
          {actions.tryAgain}
        </Button>
      </div>
    );
  if (visible.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className={styles.head}>
        {messages.heading}
      </h2>
      <ul className={styles.list}>
        {visible.map((link) => {
          const removed = changed.some((one) => one.link.code === link.code && one.removed);
          return (
            <li key={link.code} className={styles.row}>
              {removed ? (
                <UndoLine
                  code={link.code}
                  guest={owner}
                  onRestored={() => setRemoved(link, false)}
                />
              ) : (
                <Row link={link} guest={owner} onRemoved={() => setRemoved(link, true)} />
              )}
            </li>
          );
        })}
      </ul>
      {(links.length > shown || query.hasNextPage) && (
        <p className={styles.more}>
          <Button busy={query.isFetchingNextPage} onClick={showMore}>
            {actions.showMore}
          </Button>
        </p>
      )}
    </section>
  );
}

function byAge(one: Link, other: Link): number {
  return Date.parse(other.created_at) - Date.parse(one.created_at);
}

interface RowProps {
  link: Link;
  guest: Guest;
  onRemoved: () => void;
}

function Row({ link, guest, onRemoved }: RowProps) {
  const { code, long_link, state, views } = link;
  const [copied, copy] = useCopy();
  const onCopy = () => copy(shortUrl(code));
  return (
    <>
      <div className={styles.address}>
        <TextButton variant="subtle" title={messages.clickToCopy} onClick={onCopy}>
          <ShortAddress code={code} />
        </TextButton>
      </div>
      <p className={styles.to} dir="auto">
        {state !== 'active' && <strong>{messages.states[state]} </strong>}
        {long_link}
      </p>
      <div className={styles.views}>
        <Views code={code} views={views} />
      </div>
      <div className={styles.actions}>
        <TextButton variant="primary" onClick={onCopy}>
          {copyWords[copied]} <Of code={code} />
        </TextButton>
        <RouteLink className={styles.qr} to={paths.qr} state={{ url: shortUrl(code) }}>
          {messages.qr} <Of code={code} />
        </RouteLink>
        <LinkActions link={link} guest={guest} onRemoved={onRemoved} />
      </div>
    </>
  );
}
