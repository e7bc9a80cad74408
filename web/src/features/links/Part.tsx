import { useEffect, useRef, useState, type ReactNode } from 'react';
import { TextButton } from '../../components/TextButton';
import { VisuallyHidden } from '../../components/VisuallyHidden';
import styles from './Part.module.css';

interface PartProps {
  /** Name of the field, such as 'Destination'. */
  name: string;
  /** Current value. */
  children: ReactNode;
  /** Text of the button that opens the editor, and for screen readers what it changes. */
  action: string;
  of: string;
  /** Whether the field cannot be changed. An empty field is then omitted. */
  fixed?: boolean;
  editor: (close: () => void) => ReactNode;
}

/** A field of a link, which a form replaces while the owner changes it. */
export function Part({ name, children, action, of, fixed = false, editor }: PartProps) {
  const [open, setOpen] = useState(false);
  const [closed, setClosed] = useState(false);
  const button = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (closed) button.current?.querySelector('button')?.focus();
  }, [closed]);

  const close = () => {
    setOpen(false);
    setClosed(true);
  };
  if (fixed && !children) return null;
  return (
    <div className={styles.part}>
      <dt>{name}</dt>
      <dd>
        {open ? (
          editor(close)
        ) : (
          <>
            <span className={styles.value}>{children}</span>{' '}
            {!fixed && (
              <span ref={button} className={styles.action}>
                <TextButton
                  variant="primary"
                  onClick={() => {
                    setOpen(true);
                    setClosed(false);
                  }}
                >
                  {action} <VisuallyHidden>{of}</VisuallyHidden>
                </TextButton>
              </span>
            )}
          </>
        )}
      </dd>
    </div>
  );
}
