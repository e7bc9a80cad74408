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
  /** The text of the code, which is in the page's URL field. */
  text: string;
  /** Sets the text, with the messages of the form that wrote it; null for a link. */
  onText: (text: string, words: FormWords | null) => void;
  /** Number of attempts to save without a valid code. */
  refusals: number;
  symbol: QrSymbol;
}

type Chosen = KindName | 'link';
type Forms = Readonly<Record<KindName, Filled<string>>>;

/**
 * Chooses a kind of content and shows its form, which writes the text into the page's URL field.
 *
 * An incomplete form writes an empty text. If the user edits the URL field, the kind changes to a
 * link. The form keeps its values for when its kind is chosen again.
 */
export function ContentPanel({ text, onText, refusals, symbol }: ContentPanelProps) {
  const [made, setMade] = useState<{ kind: Chosen; text: string }>({ kind: 'link', text });
  const [link, setLink] = useState(text);
  const [forms, setForms] = useState<Forms>(
    () =>
      Object.fromEntries(Object.entries(kinds).map(([name, { blank }]) => [name, blank])) as Forms,
  );
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  /** Value of `refusals` when this form was opened. */
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
 * Returns the faults to show: those of fields that lost the focus, so that nothing is reported
 * while the user is typing. All of them if `left` is null, after an attempt to save.
 */
function shown(written: Written<string>, left: ReadonlySet<string> | null) {
  if ('text' in written) return {};
  if (left === null) return written.faults;
  return Object.fromEntries(Object.entries(written.faults).filter(([field]) => left.has(field)));
}

/** Returns 64 random bits in base 36. */
function randomId(): string {
  const [bits = 0n] = crypto.getRandomValues(new BigUint64Array(1));
  return bits.toString(36);
}
