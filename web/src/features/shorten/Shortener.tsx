import { useEffect, useId, useRef, useState, type MouseEvent, type SubmitEvent } from 'react';
import { useLocation } from 'react-router-dom';
import { Button } from '../../components/Button';
import { FieldError } from '../../components/Field';
import { isFirstPage } from '../../components/Page';
import { VisuallyHidden } from '../../components/VisuallyHidden';
import { PendingPlate } from './PendingPlate';
import { useResults } from './ResultsProvider';
import styles from './Shortener.module.css';
import { SignPlate } from './SignPlate';
import { useShortening } from './useShortening';

interface ShortenerProps {
  /** The home page alone insists on a scheme, or the product's own host, in the text. */
  wantsScheme?: boolean;
  /** Puts the cursor into the field when the document opens here, on a wide screen. */
  focused?: boolean;
}

const ROOMY = '(min-width: 1100px) and (hover: hover)';

export function Shortener({ wantsScheme = false, focused = false }: ShortenerProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const { state } = useLocation() as { state: { link?: unknown } | null };
  const [first] = useState(isFirstPage);
  const { results } = useResults();
  const { working, wait, error, submit, giveUp } = useShortening(wantsScheme);

  useEffect(() => {
    if (focused && first && matchMedia(ROOMY).matches)
      field.current?.focus({ preventScroll: true });
  }, [focused, first]);

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const input = field.current;
    if (!input) return;
    const text = input.value;
    input.value = '';
    submit(text);
  };

  /** The link goes back to where it came from, unless another one stands there. */
  const onGiveUp = () => {
    if (field.current?.value === '') field.current.value = working ?? '';
    field.current?.focus();
    giveUp();
  };

  /** The second half of a double click finds the field cleared: nobody meant that one. */
  const onClick = (event: MouseEvent) => {
    if (event.detail > 1 && field.current?.value === '') event.preventDefault();
  };

  return (
    <div className={styles.shortener}>
      <form className={styles.form} onSubmit={onSubmit} noValidate autoComplete="off">
        <VisuallyHidden>
          <label htmlFor={id}>Link to shorten</label>
        </VisuallyHidden>
        <input
          ref={field}
          id={id}
          className={styles.field}
          type="url"
          inputMode="url"
          autoComplete="off"
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          enterKeyHint="go"
          dir="auto"
          placeholder="Paste a long link"
          defaultValue={typeof state?.link === 'string' ? state.link : ''}
          aria-invalid={error !== undefined || undefined}
          aria-describedby={error ? `${id}-error` : undefined}
        />
        <div className={styles.error}>
          <FieldError
            id={`${id}-error`}
            text={error?.text}
            attempt={error?.attempt}
            toasted={error?.toasted}
          />
        </div>
        <Button type="submit" look="sign" large onClick={onClick}>
          Shorten
        </Button>
      </form>
      {working !== null && <PendingPlate url={working} wait={wait} onGiveUp={onGiveUp} />}
      {results.length > 0 && (
        <ul className={styles.results} aria-label="Short links of this visit">
          {results.map((result, index) => (
            <li key={result.code}>
              <SignPlate result={result} small={index > 0 || working !== null} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
