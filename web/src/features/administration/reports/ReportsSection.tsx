import { useEffect, useRef, useState } from 'react';
import { previewLink, type BlockReason } from '../../../api';
import { showReports, type ReportedLink } from '../../../api/administration';
import { cache } from '../../../api/cache';
import { keys } from '../../../api/keys';
import { Button } from '../../../components/Button';
import { Checkbox } from '../../../components/Checkbox';
import { Loaded } from '../../../components/LoadedList';
import { TextButton } from '../../../components/TextButton';
import { formatInstant } from '../../../lib/format';
import { nobody } from '../../../lib/owner';
import admin from '../Administration.module.css';
import { useAdministrator } from '../administrator';
import { BlockFields, CLASSES } from '../BlockFields';
import { hostOf } from '../Destination';
import { LinkFile } from '../LinkFile';
import { classes, reports as texts } from '../messages';
import styles from './ReportsSection.module.css';
import { useKeys } from './useKeys';
import { useQueue } from './useQueue';

const KEYS = { block: 'B', dismiss: 'D', next: 'N', undo: 'U' };

/** The queue of links that await a decision, and the selected one with what can be decided. */
export function ReportsSection() {
  const queue = useQueue();
  const { query, links, selected, last } = queue;
  const canUndo = last !== null && (last.state === 'running' || last.state === 'done');
  const [hasKeys, setKeys] = useState(keysAreOn);
  useKeys({ u: () => void queue.undo() }, hasKeys);
  const onKeys = (on: boolean) => {
    keysAreOn = on;
    setKeys(on);
  };
  return (
    <Loaded query={query} texts={texts}>
      {() => (
        <>
          {last && (
            <p className={styles.last}>
              {last.text}{' '}
              {canUndo && (
                <TextButton variant="primary" onClick={() => void queue.undo()}>
                  {texts.undo} {hasKeys && <kbd>{KEYS.undo}</kbd>}
                </TextButton>
              )}
            </p>
          )}
          {selected ? (
            <div className={styles.desk}>
              <QueueList links={links} selected={selected} onSelect={queue.select} />
              <Desk link={selected} queue={queue} hasKeys={hasKeys} onKeys={onKeys} />
            </div>
          ) : (
            <>
              <p>{texts.none}</p>
              <div>
                <Button busy={query.isFetching} onClick={() => void query.refetch()}>
                  {texts.refresh}
                </Button>
              </div>
            </>
          )}
        </>
      )}
    </Loaded>
  );
}

interface QueueListProps {
  links: readonly ReportedLink[];
  selected: ReportedLink;
  onSelect: (at: number) => void;
}

function QueueList({ links, selected, onSelect }: QueueListProps) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const row = list.current?.querySelector('[aria-current]');
    // Scrolls the list alone. On a phone it is as high as its rows, and nothing scrolls.
    const frame = list.current;
    if (!(row instanceof HTMLElement) || !frame) return;
    const top = row.offsetTop - frame.offsetTop;
    if (top < frame.scrollTop) frame.scrollTop = top;
    const bottom = top + row.offsetHeight;
    if (bottom > frame.scrollTop + frame.clientHeight)
      frame.scrollTop = bottom - frame.clientHeight;
  }, [selected.code]);
  return (
    <div className={styles.queue}>
      <h2 className={styles.count}>{texts.count(links.length)}</h2>
      <ol ref={list} className={styles.list} aria-label={texts.list}>
        {links.map((link, at) => (
          <li key={link.code}>
            <button
              type="button"
              className={styles.row}
              aria-current={link.code === selected.code || undefined}
              onClick={() => onSelect(at)}
            >
              <strong translate="no">{hostOf(link.long_link)}</strong>{' '}
              <span className={admin.facts}>
                <span translate="no">{link.code} </span>
                <span>{texts.reportCount(link.reports)} </span>
                <span>{link.classes.map((name) => classes[name]).join(', ')}</span>
              </span>
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}

interface DeskProps {
  link: ReportedLink;
  queue: ReturnType<typeof useQueue>;
  /** Whether single letters act. */
  hasKeys: boolean;
  onKeys: (on: boolean) => void;
}

/** The selected link, with the actions and their keys. */
function Desk({ link, queue, hasKeys, onKeys }: DeskProps) {
  const { links, at, make, select } = queue;
  /** What is chosen for a link. It does not apply to the next one. */
  const [draft, setDraft] = useState({ code: link.code, ...untouched(link) });
  const { reason, comment } = draft.code === link.code ? draft : untouched(link);
  const edit = (changes: Partial<typeof draft>) =>
    setDraft({ code: link.code, reason, comment, ...changes });
  const commentField = useRef<HTMLInputElement>(null);
  usePrefetch(links[at + 1]?.code);

  const block = () => make({ action: 'block', class: reason, comment: comment.trim() });
  const dismiss = () => make({ action: 'dismiss' });
  const byKey: Record<string, () => void> = {
    b: block,
    d: dismiss,
    n: () => select(at + 1),
    p: () => select(at - 1),
    c: () => commentField.current?.focus(),
  };
  CLASSES.forEach((name, index) => (byKey[String(index + 1)] = () => edit({ reason: name })));
  useKeys(byKey, hasKeys);

  return (
    <div className={styles.file}>
      <LinkFile code={link.code} known={{ long_link: link.long_link, facts: factsOf(link) }}>
        <div className={styles.decide}>
          <BlockFields
            reason={reason}
            onReason={(chosen) => edit({ reason: chosen })}
            comment={comment}
            onComment={(text) => edit({ comment: text })}
            commentRef={commentField}
            // The keys act again once the comment is written.
            onCommentDone={() => commentField.current?.blur()}
          />
          <div className={admin.actions}>
            <Button variant="primary" onClick={block}>
              {texts.block}
              {hasKeys && <kbd className={styles.key}>{KEYS.block}</kbd>}
            </Button>
            <Button onClick={dismiss}>
              {texts.dismiss}
              {hasKeys && <kbd className={styles.key}>{KEYS.dismiss}</kbd>}
            </Button>
            <Button onClick={() => select(at + 1)}>
              {texts.next}
              {hasKeys && <kbd className={styles.key}>{KEYS.next}</kbd>}
            </Button>
          </div>
          {hasKeys && <p className={styles.help}>{texts.help}</p>}
          <Checkbox
            name="keys"
            label={texts.keys}
            checked={hasKeys}
            onChange={(event) => onKeys(event.target.checked)}
          />
        </div>
      </LinkFile>
    </div>
  );
}

/** What is proposed for a link: the class that most reports name. */
function untouched(link: ReportedLink): { reason: BlockReason; comment: string } {
  return { reason: link.classes[0] ?? 'other', comment: '' };
}

/** Loads what is known about a link, so that it is shown at once after a decision. */
function usePrefetch(code: string | undefined): void {
  const { account, run } = useAdministrator();
  useEffect(() => {
    if (code === undefined) return;
    const queries = [
      cache.query({
        queryKey: keys.administration(account, 'showReports', code),
        queryFn: ({ signal }) => run(() => showReports(account, code, { signal })),
        meta: { onFailure: () => undefined },
      }),
      cache.query({
        queryKey: keys.preview(nobody, code),
        queryFn: ({ signal }) => previewLink(code, { signal }),
        meta: { onFailure: () => undefined },
      }),
    ];
    // The cache reports failures, and the link loads again when it is shown.
    void Promise.allSettled(queries);
  }, [account, run, code]);
}

/** Whether single letters act. People who dictate, or whose keys stick, turn them off. */
let keysAreOn = true;

function factsOf(link: ReportedLink): string[] {
  return [
    texts.reportCount(link.reports),
    link.views === null ? texts.viewsUnknown : texts.views(link.views),
    texts.firstReported(formatInstant(link.first_reported_at)),
    texts.lastReported(formatInstant(link.last_reported_at)),
  ];
}
