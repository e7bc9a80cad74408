import type { ComponentProps } from 'react';
import styles from './TextButton.module.css';

interface TextButtonProps extends Omit<ComponentProps<'button'>, 'className' | 'type'> {
  /** `sign`, for a next action, is underlined in yellow. `text` is underlined only on hover. */
  look?: 'plain' | 'sign' | 'text';
}

/** A button that looks like text, without a frame. */
export function TextButton({ look = 'plain', ...rest }: TextButtonProps) {
  return <button {...rest} type="button" className={`${styles.button} ${styles[look]}`} />;
}
