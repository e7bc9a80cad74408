import { useEffect, useId, useRef } from 'react';
import { Button } from '../../components/Button';
import { Mark } from '../../components/Mark';
import { copyWords, useCopy } from '../../components/useCopy';
import styles from './ApiKeys.module.css';
import type { NewKey } from './CreateKeyForm';
import { created } from './messages';

/** A created key, shown once. The whole plate is a button that copies it. */
export function CreatedKey({ name, text, onDone }: NewKey & { onDone: () => void }) {
  const id = useId();
  const [copied, copy] = useCopy();
  const plate = useRef<HTMLButtonElement>(null);
  useEffect(() => plate.current?.focus(), []);
  return (
    <div className={styles.created}>
      <h3 id={id}>{created.title(name)}</h3>
      <p>{created.once}</p>
      <button
        ref={plate}
        type="button"
        className={styles.plate}
        aria-describedby={id}
        onClick={() => copy(text)}
      >
        <Mark kind="level" />
        <code>{text}</code>{' '}
        <span className={styles.copy} data-state={copied}>
          {copyWords[copied]}
        </span>
      </button>
      <div>
        <Button onClick={onDone}>{created.done}</Button>
      </div>
    </div>
  );
}
