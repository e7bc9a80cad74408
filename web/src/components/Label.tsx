import type { ReactNode } from 'react';
import styles from './Label.module.css';

interface LabelProps {
  children: ReactNode;
  /** Id of the control, if it is a single element. */
  htmlFor?: string;
  /** Id of the label, if the control consists of several elements. They refer to it. */
  id?: string;
}

/** The label above a control. */
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
