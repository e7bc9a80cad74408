import { useRef, useState } from 'react';
import { Button } from '../../../components/Button';
import { Field } from '../../../components/Field';
import { TextButton } from '../../../components/TextButton';
import { announce } from '../../../lib/announce';
import type { Style } from '../style';
import {
  deleteStyle,
  keepStyle,
  keptStyles,
  LONGEST_NAME,
  MOST_KEPT,
  type SaveFailure,
} from './kept';
import kept from './KeptStyles.module.css';
import { messages } from './messages';
import styles from './MoreOptions.module.css';

const notKept: Record<SaveFailure, string> = {
  full: messages.full(MOST_KEPT),
  refused: messages.refused,
};

/** Saves styles in the browser, applies and deletes them. Nothing else of the page is stored. */
export function KeptStyles({ style, onStyle }: { style: Style; onStyle: (style: Style) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const [all, setAll] = useState(keptStyles);
  const [name, setName] = useState('');
  const [error, setError] = useState<string>();
  const now = JSON.stringify(style);

  const keep = () => {
    const given = name.trim();
    const failure = given === '' ? messages.noName : keepStyle(given, style);
    if (failure) {
      setError(failure in notKept ? notKept[failure as SaveFailure] : failure);
      field.current?.focus();
      return;
    }
    setError(undefined);
    setName('');
    setAll(keptStyles());
    announce(messages.saved(given));
  };

  const remove = (which: string) => {
    if (!deleteStyle(which)) setError(notKept.refused);
    setAll(keptStyles());
    // The button that had the focus is gone.
    field.current?.focus();
    announce(messages.deleted(which));
  };

  return (
    <>
      <form
        className={styles.beside}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          keep();
        }}
      >
        <Field
          ref={field}
          label={messages.styleName}
          type="text"
          autoComplete="off"
          dir="auto"
          value={name}
          error={error}
          onChange={({ target }) => {
            setError(undefined);
            setName(Array.from(target.value).slice(0, LONGEST_NAME).join(''));
          }}
        />
        <Button type="submit">{messages.save}</Button>
      </form>
      <p className={styles.hint}>{messages.savedHere}</p>
      {all.length > 0 && (
        <ul className={kept.list} aria-label={messages.savedStyles}>
          {all.map((one) => (
            <li key={one.name}>
              <TextButton
                variant="primary"
                dir="auto"
                aria-pressed={JSON.stringify(one.style) === now}
                onClick={() => onStyle(one.style)}
              >
                {one.name}
              </TextButton>
              <TextButton aria-label={messages.deleteOf(one.name)} onClick={() => remove(one.name)}>
                {messages.delete}
              </TextButton>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
