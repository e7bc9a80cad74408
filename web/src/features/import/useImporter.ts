/** The steps of an import: choose, read, check, import. */
import { useCallback, useEffect, useEffectEvent, useRef, useState } from 'react';
import { failureCode, failureReason, type Verdict } from '../../api';
import { cache } from '../../api/cache';
import { listImports } from '../../api/imports';
import { keys } from '../../api/keys';
import { untilAnswered } from '../../api/untilAnswered';
import { announce } from '../../lib/announce';
import { forgetImportJob, readImportJob, type ImportJob } from '../../lib/importJob';
import { confirmSessionOf, endSessionOf, type Account } from '../../lib/owner';
import { username } from '../../lib/session';
import { messages, problems } from './messages';
import type { Questions, ReadOptions, Row, Summary } from './parsed';
import type { Choices } from './plan';
import { rehearse, type CallEvents } from './rehearsal';
import { countImported, LostImport, prepare, runImport, sumOf } from './run';
import { openStore, type ImportStore } from './store';
import { readFile } from './worker';

export type FileOptions = Omit<ReadOptions, 'now'>;

/** A file that was read. */
export interface OpenFile {
  blob: Blob;
  name: string;
  rows: Row[];
  summary: Summary;
  options: FileOptions;
  /** The question about the columns, also after it was answered. */
  question: Questions['columns'];
}

/** Milliseconds until the next attempt; null during an attempt. */
type Wait = number | null;

export type Step =
  | { step: 'choose'; problem: string }
  | { step: 'reading'; name: string; read: number; total: number }
  | { step: 'read'; file: OpenFile; problem: string }
  | { step: 'checking'; done: number; total: number; wait: Wait }
  | { step: 'checked'; file: OpenFile; verdicts: Verdict[] }
  | { step: 'preparing' }
  | { step: 'foreign' }
  | { step: 'importing'; done: number; total: number; wait: Wait; isLasting: boolean }
  | { step: 'paused'; job: ImportJob; problem: string }
  | { step: 'imported'; job: ImportJob; imported: number };

const CHOOSE: Step = { step: 'choose', problem: '' };
/** Minimum milliseconds between two updates of the progress. */
const FRAME = 100;

export function useImporter(account: Account) {
  const [step, setStep] = useState<Step>(() =>
    readImportJob() === null ? CHOOSE : { step: 'preparing' },
  );
  const running = useRef<AbortController>(null);

  /** Aborts the current task. Returns the signal of a new one. */
  const begin = useCallback(() => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    return mine.signal;
  }, []);
  useEffect(() => () => running.current?.abort(), []);

  /** Shows the failure of a step, unless it was aborted or the session has ended. */
  const fail = useCallback(
    (error: unknown, signal: AbortSignal, next: Step) => {
      if (signal.aborted) return;
      // Abort the other concurrent calls, too.
      running.current?.abort();
      const code = failureCode(error);
      if (code === 'invalid-token' || code === 'no-logged') {
        endSessionOf(account);
        return;
      }
      console.error(error);
      setStep(next);
    },
    [account],
  );

  const read = useCallback(
    async (
      blob: Blob,
      name: string,
      options: FileOptions = {},
      answered: Questions['columns'] = null,
    ) => {
      const signal = begin();
      const rows: Row[] = [];
      setStep({ step: 'reading', name, read: 0, total: blob.size });
      const progress = throttled((done: number, total: number) => {
        if (!signal.aborted) setStep({ step: 'reading', name, read: done, total });
      });
      try {
        const onRows = (more: Row[]) => void rows.push(...more);
        const listeners = { onRows, onProgress: progress.call };
        const summary = await readFile(blob, { now: Date.now(), ...options }, listeners, signal);
        progress.stop();
        if (signal.aborted) return;
        const question = summary.questions.columns ?? (options.columns ? answered : null);
        if (rows.length === 0 && question === null) {
          const texts = summary.problems.map(({ code, count }) => problems[code](count));
          setStep({ step: 'choose', problem: texts.join(' ') });
          return;
        }
        setStep({
          step: 'read',
          file: { blob, name, rows, summary, options, question },
          problem: '',
        });
        announce(messages.found(rows.length, name));
      } catch (error) {
        progress.stop();
        fail(error, signal, { step: 'choose', problem: messages.unreadableFile });
      }
    },
    [begin, fail],
  );

  const check = async (file: OpenFile) => {
    const signal = begin();
    const state = { done: 0, total: file.rows.length, wait: null as Wait };
    const tell = () => {
      if (!signal.aborted) setStep({ step: 'checking', ...state });
    };
    const { events, stop } = eventsOf(signal, state, tell);
    tell();
    announce(messages.checking);
    try {
      const verdicts = await rehearse(account, file.rows, events).finally(stop);
      if (signal.aborted) return;
      confirmSessionOf(account);
      setStep({ step: 'checked', file, verdicts });
      announce(messages.checked(verdicts.length));
    } catch (error) {
      fail(error, signal, { step: 'read', file, problem: messages.checkFailed });
    }
  };

  const run = useCallback(
    async (job: ImportJob, store: ImportStore, signal: AbortSignal) => {
      const { isLasting } = store;
      const state = { done: 0, total: sumOf(job.sizes), wait: null as Wait };
      const tell = () => {
        if (!signal.aborted) setStep({ step: 'importing', ...state, isLasting });
      };
      const { events, stop } = eventsOf(signal, state, tell);
      tell();
      announce(messages.importing);
      try {
        await runImport(account, store, job, events).finally(stop);
        const imported = await countImported(store, job);
        if (signal.aborted) return;
        confirmSessionOf(account);
        void cache.invalidateQueries({ queryKey: keys.all(account) });
        setStep({ step: 'imported', job, imported });
        announce(messages.imported(imported));
      } catch (error) {
        const isLost = error instanceof LostImport;
        if (isLost && !signal.aborted) forgetImportJob();
        const isFull = failureReason(error) === 'ACCOUNT_FULL';
        const problem = isLost ? messages.lost : isFull ? messages.full : messages.importFailed;
        fail(
          error,
          signal,
          isLost ? { step: 'choose', problem } : { step: 'paused', job, problem },
        );
      }
    },
    [account, fail],
  );

  const start = async ({ rows }: OpenFile, verdicts: Verdict[], choices: Choices) => {
    const signal = begin();
    setStep({ step: 'preparing' });
    try {
      const { job, store } = await prepare(rows, verdicts, choices);
      if (!signal.aborted) await run(job, store, signal);
    } catch (error) {
      fail(error, signal, { step: 'choose', problem: messages.importFailed });
    }
  };

  const resume = useCallback(
    async (job: ImportJob) => {
      const signal = begin();
      try {
        const store = await openStore(job);
        if (job.isFinished) {
          const imported = await countImported(store, job);
          if (!signal.aborted) setStep({ step: 'imported', job, imported });
        } else {
          await run(job, store, signal);
        }
      } catch (error) {
        fail(error, signal, { step: 'paused', job, problem: messages.importFailed });
      }
    },
    [begin, fail, run],
  );

  /** Continues the unfinished import of this browser if this account began it. */
  const arrive = useEffectEvent(async () => {
    const job = readImportJob();
    if (job === null) return;
    const signal = begin();
    try {
      const known = await untilAnswered(() => listImports(account, { signal }), { signal });
      const isOurs =
        known.some(({ import_id }) => import_id === job.id) || job.username === username();
      if (isOurs) await resume(job);
      else setStep({ step: 'foreign' });
    } catch (error) {
      fail(error, signal, { step: 'paused', job, problem: messages.importFailed });
    }
  });
  useEffect(() => {
    const timer = setTimeout(() => void arrive());
    return () => clearTimeout(timer);
  }, []);

  return {
    step,
    read,
    check,
    start,
    resume,
    /** Aborts the current task and goes back to a step. */
    cancel: (next: Step = CHOOSE) => {
      begin();
      setStep(next);
      announce(messages.canceled);
    },
    pause: () => {
      const job = readImportJob();
      if (job === null) return;
      begin();
      setStep({ step: 'paused', job, problem: '' });
      announce(messages.paused);
    },
    forget: () => {
      begin();
      forgetImportJob();
      setStep(CHOOSE);
    },
  };
}

function eventsOf(
  signal: AbortSignal,
  state: { done: number; total: number; wait: Wait },
  tell: () => void,
): { events: CallEvents; stop: () => void } {
  const progress = throttled(tell);
  const events: CallEvents = {
    signal,
    onProgress: (done, total) => {
      Object.assign(state, { done, total });
      progress.call();
    },
    onRetryAfter: (wait) => {
      state.wait = wait;
      progress.call();
    },
  };
  return { events, stop: progress.stop };
}

interface Throttled<A extends unknown[]> {
  call: (...args: A) => void;
  /** Drops all further calls, such as those of work that another failure left running. */
  stop: () => void;
}

/**
 * Returns a throttled function: it calls at once, and then at most every `FRAME` milliseconds with
 * the latest arguments.
 */
function throttled<A extends unknown[]>(call: (...args: A) => void): Throttled<A> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest: A | undefined;
  let isStopped = false;
  const next = () => {
    timer = undefined;
    if (latest === undefined) return;
    call(...latest);
    latest = undefined;
    timer = setTimeout(next, FRAME);
  };
  return {
    call: (...args) => {
      if (isStopped) return;
      latest = args;
      if (timer === undefined) next();
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
