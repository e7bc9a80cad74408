import type { ReactNode } from 'react';
import styles from './ItemList.module.css';

/** A list of things that an account has, such as sessions, with lines between them. */
export function ItemList({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={styles.list} aria-label={label}>
      {children}
    </ul>
  );
}

interface ItemProps {
  title: ReactNode;
  /** Short texts below the title. Each is shown once. */
  facts: readonly string[];
  /** The button beside them, if there is one. */
  action?: ReactNode;
}

export function Item({ title, facts, action }: ItemProps) {
  return (
    <li>
      <div>
        <p>{title}</p>
        <p className={styles.facts}>
          {facts.map((fact) => (
            <span key={fact}>{fact} </span>
          ))}
        </p>
      </div>
      {action}
    </li>
  );
}
