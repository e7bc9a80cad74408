import type { ComponentProps } from 'react';
import styles from './TextButton.module.css';

interface TextButtonProps extends Omit<ComponentProps<'button'>, 'className' | 'type'> {
  /** `primary`, for a next action, is underlined in yellow. `subtle` is underlined only on hover. */
  variant?: 'primary' | 'secondary' | 'subtle';
}

/** A button that looks like text, without a frame. */
export function TextButton({ variant = 'secondary', ...rest }: TextButtonProps) {
  return <button {...rest} type="button" className={`${styles.button} ${styles[variant]}`} />;
}
