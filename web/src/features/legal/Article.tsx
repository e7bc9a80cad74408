import type { ReactNode } from 'react';
import { formatDay } from '../../lib/format';
import styles from './Article.module.css';
import { article as texts } from './messages';

export interface Section {
  id: string;
  title: string;
  body: ReactNode;
}

interface ArticleProps {
  title: string;
  /** ISO date of the last change. */
  since: string;
  intro: ReactNode;
  sections: Section[];
}

/** A long text with its table of contents. */
export function Article({ title, since, intro, sections }: ArticleProps) {
  return (
    <article className={styles.article}>
      <header className={styles.header}>
        <h1>{title}</h1>
        <p className={styles.since}>
          {texts.since(<time dateTime={since}>{formatDay(since)}</time>)}
        </p>
        <p className={styles.lead}>{intro}</p>
      </header>
      <nav className={styles.contents} aria-labelledby="contents">
        <h2 id="contents">{texts.contents}</h2>
        <ol>
          {sections.map(({ id, title: text }) => (
            <li key={id}>
              <a href={`#${id}`}>{text}</a>
            </li>
          ))}
        </ol>
      </nav>
      <div className={styles.text}>
        {sections.map(({ id, title: text, body }) => (
          <section key={id} aria-labelledby={id}>
            <h2 id={id} tabIndex={-1}>
              {text}
            </h2>
            {body}
          </section>
        ))}
      </div>
    </article>
  );
}
