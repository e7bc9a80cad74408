import type { ComponentProps } from 'react';
import { Link } from 'react-router-dom';
import styles from './Button.module.css';
import { messages } from './messages';
import { Spinner } from './Spinner';

interface Appearance {
  /** The primary action of a page looks like a signpost; every other button is plain. */
  variant?: 'primary' | 'secondary';
  large?: boolean;
}

function classes({ variant = 'secondary', large = false }: Appearance): string {
  return [styles.button, styles[variant], large && styles.large].filter(Boolean).join(' ');
}

type ButtonProps = Omit<ComponentProps<'button'>, 'className'> & Appearance & { busy?: boolean };

/** A button. While busy, it keeps its size, focus and position, and ignores clicks. */
export function Button({ variant, large, busy = false, onClick, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={classes({ ...(variant && { variant }), ...(large && { large }) })}
      {...(busy && { 'aria-disabled': true, 'aria-busy': true })}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.(event);
      }}
    >
      <span className={busy ? styles.hidden : undefined}>{children}</span>
      {busy && (
        <span className={styles.over}>
          <Spinner label={messages.wait} />
        </span>
      )}
    </button>
  );
}

export function ButtonLink({
  variant,
  ...rest
}: Omit<ComponentProps<typeof Link>, 'className'> & Appearance) {
  return <Link {...rest} className={classes({ ...(variant && { variant }) })} />;
}
