import { useEffect, useId, useRef } from 'react';
import { Button } from '../../components/Button';
import { copyWords, useCopy } from '../../components/useCopy';
import { publicUrl } from '../../lib/config';
import { save } from '../../lib/save';
import { username } from '../../lib/session';
import styles from './CreatedCodes.module.css';
import { created } from './recoveryMessages';

interface CreatedCodesProps {
  codes: readonly string[];
  onDone: () => void;
}

/** New recovery codes, shown once, to copy, download or print. */
export function CreatedCodes({ codes, onDone }: CreatedCodesProps) {
  const id = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  const [copied, copy] = useCopy();
  useEffect(() => heading.current?.focus(), []);

  const text = codes.join('\n');
  const download = () => {
    const file = created.file(new URL(publicUrl()).host, username(), text);
    save(new Blob([file], { type: 'text/plain' }), created.fileName);
  };

  return (
    <div className={styles.created}>
      <h3 ref={heading} id={id} tabIndex={-1}>
        {created.title}
      </h3>
      <p>{created.once}</p>
      <ol className={styles.codes} aria-labelledby={id}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <div className={styles.actions}>
        <Button onClick={() => copy(text)}>{copyWords[copied]}</Button>
        <Button onClick={download}>{created.download}</Button>
        <Button onClick={() => print()}>{created.print}</Button>
        <Button variant="primary" onClick={onDone}>
          {created.done}
        </Button>
      </div>
    </div>
  );
}
