import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { Navigate } from 'react-router-dom';
import type { Link, LinkQuery } from '../../api';
import { knownScanCode } from '../../api/scanCodes';
import { Button } from '../../components/Button';
import { Choice } from '../../components/Choice';
import { Field } from '../../components/Field';
import { actions } from '../../components/messages';
import { Spinner } from '../../components/Spinner';
import { announce } from '../../lib/announce';
import { shortAddress } from '../../lib/config';
import type { Owner } from '../../lib/owner';
import { paths } from '../../lib/paths';
import { SelectionBar } from './SelectionBar';
import styles from './LinkList.module.css';
import type { RowActions, SmallChart } from './LinkRow';
import { LinkTable } from './LinkTable';
import { remove, restore } from './changes';
import { belongs } from './moves';
import { list as texts, messages } from './messages';
import { RemoveLinkDialog } from './RemoveLinkDialog';
import { useLinkList } from './useLinkList';
import { MAX_SEARCH, orders, states, useListQuery } from './useListQuery';

/** Milliseconds without a change after which the number of links is announced. */
const ANNOUNCE_DELAY = 500;

interface LinkListProps {
  owner: Owner;
  /** Chart of each row, beside the views. */
  Chart: SmallChart;
}

/** The links of an owner, with search, order, state filter, selection and actions. */
export function LinkList({ owner, Chart }: LinkListProps) {
  const { query, typed, setTyped, setOrder, setState } = useListQuery();
  const { list, reload, loadMore } = useLinkList(owner, query);

  if (list.state === 'not-logged') return <Navigate to={paths.home} replace />;

  const isAll = query.text === '' && query.state === null;
  const isEmpty = list.state === 'loaded' && list.links.length === 0 && !list.isOld;
  return (
    <section className={styles.stack} aria-label={texts.label}>
      <div className={styles.bar}>
        <div role="search" className={styles.search}>
          <Field
            label={texts.search}
            type="search"
            placeholder={texts.searchHint}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            enterKeyHint="search"
            dir="auto"
            maxLength={MAX_SEARCH}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </div>
        <Choice label={texts.order} options={orders} value={query.order} onChange={setOrder} />
        <Choice
          label={texts.state}
          options={states}
          value={query.state ?? 'all'}
          onChange={(state) => setState(state === 'all' ? null : state)}
        />
      </div>
      {list.state === 'loading' && <Loading />}
      {list.state === 'failed' && (
        <Failed>
          <Button busy={list.again} onClick={reload}>
            {actions.tryAgain}
          </Button>
        </Failed>
      )}
      {isEmpty && <p>{isAll ? texts.empty : texts.noMatch}</p>}
      {list.state === 'loaded' && list.links.length > 0 && (
        <div className={styles.rows} aria-busy={list.isOld || undefined}>
          <Links
            key={`${query.text}\n${query.order}\n${query.state ?? ''}`}
            owner={owner}
            Chart={Chart}
            query={query}
            list={list}
            loadMore={loadMore}
          />
        </div>
      )}
    </section>
  );
}

/** Placeholder rows without content while links load. CSS hides them for the first 200 ms. */
function Loading() {
  return (
    <div className={styles.loading}>
      <Spinner label={texts.loading} />
      {Array.from({ length: 4 }, (_, index) => (
        <div key={index} className={styles.ghost} aria-hidden="true">
          <span />
          <span />
        </div>
      ))}
    </div>
  );
}

function Failed({ children }: { children: ReactNode }) {
  return (
    <div className={styles.stack}>
      <p>{messages.loadFailed}</p>
      <div>{children}</div>
    </div>
  );
}

interface LinksProps extends LinkListProps {
  query: LinkQuery;
  list: Extract<ReturnType<typeof useLinkList>['list'], { state: 'loaded' }>;
  loadMore: () => void;
}

function Links({ owner, Chart, query, list, loadMore }: LinksProps) {
  const { links, total, rest } = list;
  const [selectedCodes, setSelectedCodes] = useState<ReadonlySet<string>>(new Set());
  const touchedRef = useRef<string>(null);
  /** Code of the row where a selection of several rows (Shift+click) begins. */
  const from = useRef<string>(null);

  const selectable = useMemo(
    () => links.filter((link) => belongs(link, query.state)),
    [links, query.state],
  );
  const selected = useMemo(
    () => selectable.filter(({ code }) => selectedCodes.has(code)),
    [selectable, selectedCodes],
  );

  const unknown = links.some(({ views }) => views === null);
  useEffect(() => {
    if (unknown) announce(messages.viewsUnknown);
  }, [unknown]);
  const count = texts.count(total);
  useEffect(() => {
    // Do not announce it at each letter of a search.
    const timer = setTimeout(() => announce(count), ANNOUNCE_DELAY);
    return () => clearTimeout(timer);
  }, [count]);

  const latest = useRef(selectable);
  useEffect(() => {
    latest.current = selectable;
  }, [selectable]);
  /** Link with a scan code whose removal must be confirmed. */
  const [linkToConfirm, setLinkToConfirm] = useState<Link | null>(null);
  const removeNow = useCallback(
    (link: Link) => {
      setLinkToConfirm(null);
      touchedRef.current = link.code;
      announce(messages.removed(shortAddress(link.code, link.domain)));
      void remove(owner, [link]);
    },
    [owner],
  );
  // Stable while the list is mounted, so that a row renders only when it changes.
  const rowActions = useMemo<RowActions>(
    () => ({
      select: (code, isSelected, through) => {
        const all = latest.current.map((link) => link.code);
        const at = all.indexOf(code);
        const begin = through && from.current !== null ? all.indexOf(from.current) : -1;
        const [first, last] = begin === -1 ? [at, at] : [Math.min(at, begin), Math.max(at, begin)];
        from.current = code;
        setSelectedCodes((known) => {
          const next = new Set(known);
          for (const selectedCode of all.slice(first, last + 1)) {
            if (isSelected) next.add(selectedCode);
            else next.delete(selectedCode);
          }
          return next;
        });
      },
      remove: (link) => {
        if (knownScanCode(owner, link) === undefined) removeNow(link);
        else setLinkToConfirm(link);
      },
      restore: (link) => {
        touchedRef.current = link.code;
        announce(messages.restored(shortAddress(link.code, link.domain)));
        void restore(owner, [link]);
      },
    }),
    [owner, removeNow],
  );

  return (
    <>
      <SelectionBar
        owner={owner}
        state={query.state}
        total={total}
        selectable={selectable}
        selected={selected}
        onSelect={(all) => setSelectedCodes(new Set(all.map(({ code }) => code)))}
      />
      {unknown && <p>{messages.viewsUnknown}</p>}
      <LinkTable
        Chart={Chart}
        links={links}
        total={total}
        state={query.state}
        selectedCodes={selectedCodes}
        actions={rowActions}
        touchedRef={touchedRef}
        rest={rest}
        loadMore={loadMore}
      />
      {linkToConfirm && (
        <RemoveLinkDialog
          code={linkToConfirm.code}
          domain={linkToConfirm.domain}
          onClose={() => setLinkToConfirm(null)}
          onRemove={() => removeNow(linkToConfirm)}
        />
      )}
    </>
  );
}
