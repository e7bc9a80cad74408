import type { ReactNode } from 'react';
import styles from './Label.module.css';

interface LabelProps {
  children: ReactNode;
  /** The id of the control, where one element is the control. */
  htmlFor?: string;
  /** Where several elements are the control, they say by this id that they are named by it. */
  id?: string;
}

/** The words above a control. */
export function Label({ children, htmlFor, id }: LabelProps) {
  return htmlFor ? (
    <label className={styles.label} htmlFor={htmlFor}>
      {children}
    </label>
  ) : (
    <span className={styles.label} id={id}>
      {children}
    </span>
  );
}
