import type { ComponentProps } from 'react';
import styles from './TextButton.module.css';

interface TextButtonProps extends Omit<ComponentProps<'button'>, 'className' | 'type'> {
  /** What one would do next is underlined in yellow; what is plainly text, only under the pointer. */
  look?: 'plain' | 'sign' | 'text';
}

/** Words that do something, without a frame. */
export function TextButton({ look = 'plain', ...rest }: TextButtonProps) {
  return <button {...rest} type="button" className={`${styles.button} ${styles[look]}`} />;
}
