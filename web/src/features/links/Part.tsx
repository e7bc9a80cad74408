import { useEffect, useRef, useState, type ReactNode } from 'react';
import { TextButton } from '../../components/TextButton';
import { VisuallyHidden } from '../../components/VisuallyHidden';
import styles from './Part.module.css';

interface PartProps {
  /** What it is: 'Destination'. */
  name: string;
  /** What it says now. */
  children: ReactNode;
  /** What the button that opens the editor says, and what of for a screen reader. */
  action: string;
  of: string;
  /** Nothing can be changed as it is, and what says nothing is left out. */
  fixed?: boolean;
  editor: (close: () => void) => ReactNode;
}

/** Something that belongs to a link, and in its place, for who wants to change it, the form. */
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
                  look="sign"
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
