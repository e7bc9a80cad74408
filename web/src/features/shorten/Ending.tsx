import { useEffect, useId, useImperativeHandle, useRef, useState, type Ref } from 'react';
import { accessLink } from '../../api';
import { Field } from '../../components/Field';
import { ShortAddress } from '../../components/ShortAddress';
import styles from './Ending.module.css';
import { messages } from './endingMessages';
import { endingProblem } from './endings';
import { messages as shared } from './messages';

/** Methods of the field for the shortener. */
export interface EndingHandle {
  /**
   * Returns the custom ending, '' for none. For an invalid one, moves the focus to it and returns
   * null.
   */
  take: () => string | null;
  /** Marks the ending as taken. */
  refuse: () => void;
  /** Clears the field after a link was created with it. */
  clear: () => void;
}

/** Milliseconds without typing after which the server is asked. */
const CHECK_DELAY = 300;

type Answer = 'pending' | 'free' | 'taken' | 'unknown';

/** Opens the options of the shortener, and moves the focus to the control of an element. */
export function point(element: HTMLElement | null): void {
  const options = element?.closest('details');
  if (options) options.open = true;
  element?.querySelector<HTMLElement>('input, select')?.focus();
}

/**
 * The field for a custom ending. While the user types, it shows whether the ending is available.
 */
export function Ending({
  ref,
  domain,
}: {
  ref: Ref<EndingHandle>;
  /** Domain of the short URL; undefined for that of the public URL. */
  domain: string | undefined;
}) {
  const id = useId();
  const field = useRef<HTMLDivElement>(null);
  const [text, setText] = useState('');
  /** Result of the last check, with the checked ending. */
  const [found, setFound] = useState<{ ending: string; answer: Answer } | null>(null);
  /** Counts the attempts to use an invalid ending, so that each is announced. */
  const [attempt, setAttempt] = useState(0);
  const ending = text.trim();
  const problem = endingProblem(ending);
  const answer = found?.ending === ending ? found.answer : 'pending';
  const isTaken = !problem && answer === 'taken';
  const error = isTaken ? shared.taken : problem ? messages[problem] : undefined;

  useEffect(() => {
    if (ending === '' || endingProblem(ending)) return undefined;
    const controller = new AbortController();
    const ask = async () => {
      try {
        const access = await accessLink(ending, { signal: controller.signal, prefetch: true });
        if (!controller.signal.aborted) setFound({ ending, answer: access ? 'taken' : 'free' });
      } catch (failure) {
        if (controller.signal.aborted) return;
        console.error(failure);
        setFound({ ending, answer: 'unknown' });
      }
    };
    const timer = setTimeout(() => void ask(), CHECK_DELAY);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [ending]);

  const pointHere = () => {
    point(field.current);
    setAttempt((count) => count + 1);
  };

  useImperativeHandle(ref, () => ({
    take: () => {
      if (!error) return ending;
      pointHere();
      return null;
    },
    refuse: () => {
      setFound({ ending, answer: 'taken' });
      pointHere();
    },
    clear: () => setText(''),
  }));

  return (
    <div ref={field} className={styles.field}>
      <Field
        label={messages.ending}
        type="text"
        autoComplete="off"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        enterKeyHint="go"
        value={text}
        onChange={(event) => setText(event.target.value)}
        error={error}
        attempt={attempt}
        describedBy={id}
      />
      <p id={id} className={styles.words} aria-live="polite">
        {!error && <Words ending={ending} domain={domain} answer={answer} />}
      </p>
    </div>
  );
}

function Words({
  ending,
  domain,
  answer,
}: {
  ending: string;
  domain: string | undefined;
  answer: Answer;
}) {
  if (ending === '') return messages.rule;
  if (answer === 'unknown') return messages.unknown;
  return answer === 'free'
    ? messages.available(<ShortAddress code={ending} domain={domain} />)
    : null;
}
