import { useState } from 'react';
import { Choice } from '../../../components/Choice';
import { messages as shared } from '../messages';
import { Room } from '../Room';
import type { QrSymbol } from '../symbol';
import { ContentForm } from './ContentForm';
import styles from './ContentPanel.module.css';
import type { EventOrigin } from './event';
import { choices, type FormWords, type KindName, kinds } from './kinds';
import { messages } from './messages';
import type { Filled, Written } from './written';

interface ContentPanelProps {
  /** What the code says: the text of the page's own field. */
  text: string;
  /** Takes it, and what is said of the form that wrote it; null for a link. */
  onText: (text: string, words: FormWords | null) => void;
  /** How often a code was to be saved that could not be. */
  refusals: number;
  symbol: QrSymbol;
}

type Chosen = KindName | 'link';
type Forms = Readonly<Record<KindName, Filled<string>>>;

/**
 * A kind of content and its form, which writes what the code says into the page's own field. Until
 * a form is whole there is nothing to say. Whoever changes the field by hand is back at a link, and
 * finds the form as it was on choosing its kind again.
 */
export function ContentPanel({ text, onText, refusals, symbol }: ContentPanelProps) {
  const [made, setMade] = useState<{ kind: Chosen; text: string }>({ kind: 'link', text });
  const [link, setLink] = useState(text);
  const [forms, setForms] = useState<Forms>(
    () =>
      Object.fromEntries(Object.entries(kinds).map(([name, { blank }]) => [name, blank])) as Forms,
  );
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  /** Refusals before this form was opened. */
  const [before, setBefore] = useState(refusals);
  const [origin] = useState<EventOrigin>(() => ({ visit: randomId(), at: new Date() }));
  const chosen = made.text === text ? made.kind : 'link';

  const write = (name: KindName, filled: Filled<string>): Written<string> =>
    kinds[name].write(filled, origin);

  const make = (kind: Chosen, next: string) => {
    setMade({ kind, text: next });
    onText(next, kind === 'link' ? null : wordsOf(kind));
  };

  const makeOf = (name: KindName, filled: Filled<string>) => {
    const written = write(name, filled);
    make(name, 'text' in written ? written.text : '');
  };

  const choose = (next: Chosen) => {
    if (chosen === 'link') setLink(text);
    setLeft(new Set());
    setBefore(refusals);
    if (next === 'link') make('link', link);
    else makeOf(next, forms[next]);
  };

  const fill = (name: KindName, filled: Filled<string>) => {
    setForms({ ...forms, [name]: filled });
    makeOf(name, filled);
  };

  const leave = (name: KindName, field: string) => {
    setLeft(new Set([...left, field]));
    const tidied = kinds[name].tidy?.(forms[name]) ?? forms[name];
    if (tidied !== forms[name]) fill(name, tidied);
  };

  return (
    <div className={styles.panel}>
      <Choice label={messages.contentType} options={choices} value={chosen} onChange={choose} />
      {chosen === 'link' ? (
        <p className={styles.hint}>{messages.linkHint}</p>
      ) : (
        <>
          <ContentForm
            key={chosen}
            kind={kinds[chosen]}
            filled={forms[chosen]}
            faults={shown(write(chosen, forms[chosen]), refusals > before ? null : left)}
            onFilled={(filled) => fill(chosen, filled)}
            onLeave={(field) => leave(chosen, field)}
          />
          {text === '' && <p className={styles.hint}>{messages.incomplete}</p>}
          {symbol.modules === null && <p className={styles.tooLong}>{shared.tooLong}</p>}
          <Room symbol={symbol} />
        </>
      )}
    </div>
  );
}

function wordsOf(name: KindName): FormWords {
  const what = messages.whats[name];
  return { refused: messages.refused(what), empty: messages.empty(what) };
}

/**
 * The faults of fields that were left: nobody is told of what is still being typed. All of them
 * where `left` is null, for who asked for the code already.
 */
function shown(written: Written<string>, left: ReadonlySet<string> | null) {
  if ('text' in written) return {};
  if (left === null) return written.faults;
  return Object.fromEntries(Object.entries(written.faults).filter(([field]) => left.has(field)));
}

/** 64 random bits. */
function randomId(): string {
  const [bits = 0n] = crypto.getRandomValues(new BigUint64Array(1));
  return bits.toString(36);
}
