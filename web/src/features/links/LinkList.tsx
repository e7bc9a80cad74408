import { useDeferredValue, useEffect, useMemo, useState, type ReactNode } from 'react';
import { Navigate } from 'react-router-dom';
import type { ProfileLink } from '../../api';
import { Button } from '../../components/Button';
import { Field } from '../../components/Field';
import { Spinner } from '../../components/Spinner';
import { announce } from '../../lib/announce';
import { shortAddress } from '../../lib/config';
import { formatNumber, plural } from '../../lib/format';
import type { Account } from '../../lib/owner';
import { paths } from '../../lib/paths';
import styles from './LinkList.module.css';
import { LinkTable } from './LinkTable';
import { loadError, viewsUnknown } from './messages';
import { useLinks } from './useLinks';

interface LinkListProps {
  owner: Account;
  /** Shown in place of the table while there is no link yet. */
  whenEmpty: ReactNode;
}

export function LinkList({ owner, whenEmpty }: LinkListProps) {
  const { list, reload } = useLinks(owner);

  if (list.state === 'not-logged') return <Navigate to={paths.home} replace />;
  if (list.state === 'loading') {
    return (
      <div className={styles.loading}>
        <Spinner label="Loading your links" />
      </div>
    );
  }
  if (list.state === 'failed') {
    return (
      <div className={styles.stack}>
        <p>{loadError}</p>
        <div>
          <Button busy={list.again} onClick={reload}>
            Try again
          </Button>
        </div>
      </div>
    );
  }
  if (list.links.length === 0) {
    return (
      <div className={styles.stack}>
        <p>You have no links yet. The ones you shorten while logged in appear here.</p>
        {whenEmpty}
      </div>
    );
  }
  return <FilteredLinks links={list.links} />;
}

/** Milliseconds without another letter after which the number of links is said. */
const REST = 500;

function FilteredLinks({ links: all }: { links: ProfileLink[] }) {
  const [filter, setFilter] = useState('');
  const wanted = useDeferredValue(filter.trim().toLowerCase());
  const shown = useMemo(
    () =>
      wanted === ''
        ? all
        : all.filter((link) =>
            `${shortAddress(link.short_link)}\n${link.long_link}`.toLowerCase().includes(wanted),
          ),
    [all, wanted],
  );
  const total = `${formatNumber(all.length)} ${plural(all.length, 'link', 'links')}`;
  const shownOf = wanted === '' ? total : `${formatNumber(shown.length)} of ${total}`;
  const unknown = all.some(({ views }) => views === null);
  useEffect(() => {
    if (unknown) announce(viewsUnknown);
  }, [unknown]);
  useEffect(() => {
    // Not at each letter.
    const timer = setTimeout(() => announce(shownOf), REST);
    return () => clearTimeout(timer);
  }, [shownOf]);

  return (
    <div className={styles.stack}>
      <div className={styles.bar}>
        <div className={styles.filter}>
          <Field
            label="Filter"
            type="text"
            placeholder="Part of a link"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            dir="auto"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
          />
        </div>
        <p className={styles.count}>{shownOf}</p>
      </div>
      {unknown && <p>{viewsUnknown}</p>}
      {shown.length > 0 ? <LinkTable links={shown} /> : <p>No link has this in it.</p>}
    </div>
  );
}
