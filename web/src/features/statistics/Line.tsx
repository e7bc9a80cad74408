import { useEffect, useRef, useState, type RefObject } from 'react';
import { useQuery } from '@tanstack/react-query';
import { cache } from '../../api/cache';
import { Bars } from '../../components/Bars';
import type { Owner } from '../../lib/owner';
import { plot } from './drawing';
import styles from './Line.module.css';
import { lineOf } from './queries';

const SIZE = { width: 120, height: 28 };

interface LineProps {
  owner: Owner;
  code: string;
  /** null where they are not known. */
  views: number | null;
}

/** The people of a link's last 30 days as small bars; nothing until they are known. */
export function Line({ owner, code, views }: LineProps) {
  const place = useRef<HTMLSpanElement>(null);
  const seen = useSeen(place);
  const { data } = useQuery(
    { ...lineOf(owner, code), enabled: seen && views !== null && views > 0 },
    cache,
  );
  return (
    <span ref={place} className={styles.line}>
      {data && <SmallBars values={data} />}
    </span>
  );
}

/** Bars without anything beside them: the figures stand elsewhere. */
export function SmallBars({ values }: { values: readonly number[] }) {
  return (
    <svg
      viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
      preserveAspectRatio="none"
      className={styles.bars}
      aria-hidden="true"
    >
      <Bars drawing={plot(values, [], SIZE).draw(null)} />
    </svg>
  );
}

/** Whether something has been in sight; what style does not show never is. */
function useSeen(place: RefObject<HTMLElement | null>): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (!element || seen) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [place, seen]);
  return seen;
}
