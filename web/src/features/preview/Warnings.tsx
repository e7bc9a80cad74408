import type { ReactNode } from 'react';
import type { Preview } from '../../api';
import { readable } from '../../lib/hosts';
import { messages } from './messages';
import styles from './Warnings.module.css';

type Place = Required<Pick<Preview, 'long_link'>> & { host: string };

interface WarningsProps {
  place: Place;
  warnings: readonly string[];
}

/** Warnings about a destination, each as a sentence. Omits those that this page does not know. */
export function Warnings({ place, warnings }: WarningsProps) {
  const sentences = warnings.flatMap((warning) => {
    const text = texts[warning]?.(place);
    return text ? [{ warning, text }] : [];
  });
  if (sentences.length === 0) return null;
  return (
    <ul className={styles.warnings} aria-label={messages.warnings}>
      {sentences.map(({ warning, text }) => (
        <li key={warning}>{text}</li>
      ))}
    </ul>
  );
}

const texts: Partial<Record<string, (place: Place) => ReactNode>> = {
  'mixed script host': () => messages.mixedScripts,
  'look-alike host': ({ host }) =>
    readable(host) === null ? messages.lookAlike : messages.lookAlikeOf(<Name host={host} />),
  'punycode host': ({ host }) => messages.punycode(<Name host={host} />),
  'ip address host': () => messages.ipAddress,
  'user info in address': ({ host }) => messages.userInfo(<bdi translate="no">{host}</bdi>),
  'unusual port': ({ long_link: url }) => messages.port(url ? new URL(url).port : ''),
};

/** A host name, isolated because it may run from right to left. */
function Name({ host }: { host: string }) {
  return <bdi translate="no">{readable(host) ?? host}</bdi>;
}
