import type { ReactNode } from 'react';
import type { Preview } from '../../api';
import { readable } from '../../lib/hosts';
import styles from './Warnings.module.css';

/** What there is to be careful about, each in a sentence; one that is not known here is left out. */
export function Warnings({ preview }: { preview: Preview }) {
  const sentences = preview.warnings.flatMap((warning) => {
    const words = wordsOf[warning]?.(preview);
    return words ? [{ warning, words }] : [];
  });
  if (sentences.length === 0) return null;
  return (
    <ul className={styles.warnings} aria-label="Be careful">
      {sentences.map(({ warning, words }) => (
        <li key={warning}>{words}</li>
      ))}
    </ul>
  );
}

const wordsOf: Partial<Record<string, (preview: Preview) => ReactNode>> = {
  'mixed script host': () => 'Its name mixes letters of several alphabets.',
  'look-alike host': ({ host }) =>
    readable(host) === null ? (
      'Its name looks like that of a well-known site, and is another one.'
    ) : (
      <>
        Its name only looks like <Name host={host} />: some letters are those of another alphabet.
      </>
    ),
  'punycode host': ({ host }) => (
    <>
      Its name has other letters than a to z: browsers may show it as <Name host={host} />.
    </>
  ),
  'ip address host': () => 'It has a number in place of a name. Nearly all sites have a name.',
  'user info in address': ({ host }) => (
    <>
      What stands before the @ in its address is no part of where it leads, which is{' '}
      <bdi translate="no">{host}</bdi>.
    </>
  ),
  'unusual port': ({ long_link: address }) =>
    `It leads to an unusual port of that site${address ? `: ${new URL(address).port}` : ''}.`,
};

/** Set apart: a name may run from right to left. */
function Name({ host }: { host: string }) {
  return <bdi translate="no">{readable(host) ?? host}</bdi>;
}
