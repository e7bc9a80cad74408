import type { ComponentProps } from 'react';
import styles from './VisuallyHidden.module.css';

/** For a screen reader alone. */
export function VisuallyHidden(props: Omit<ComponentProps<'span'>, 'className'>) {
  return <span {...props} className={styles.hidden} />;
}
