import type { ComponentProps } from 'react';
import { Link } from 'react-router-dom';
import styles from './Button.module.css';
import { messages } from './messages';
import { Spinner } from './Spinner';

interface Look {
  /** The primary action of a page looks like a signpost; every other button is plain. */
  look?: 'sign' | 'plain';
  large?: boolean;
}

function classes({ look = 'plain', large = false }: Look): string {
  return [styles.button, styles[look], large && styles.large].filter(Boolean).join(' ');
}

type ButtonProps = Omit<ComponentProps<'button'>, 'className'> & Look & { busy?: boolean };

/** A button. While busy, it keeps its size, focus and position, and ignores clicks. */
export function Button({ look, large, busy = false, onClick, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={classes({ ...(look && { look }), ...(large && { large }) })}
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
  look,
  ...rest
}: Omit<ComponentProps<typeof Link>, 'className'> & Look) {
  return <Link {...rest} className={classes({ ...(look && { look }) })} />;
}
