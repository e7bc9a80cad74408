import { useDeferredValue, useEffect, useId, useMemo, useRef, useState } from 'react';
import type { Logo } from '../drawing';
import { AreaField } from '../../../components/AreaField';
import { Button } from '../../../components/Button';
import { actions } from '../../../components/messages';
import { announce } from '../../../lib/announce';
import { save } from '../../../lib/save';
import { type FileFormat, fileName } from '../download';
import { NamedChoice } from '../more/NamedChoice';
import { QuietZoneOffer } from '../more/QuietZoneOffer';
import { outlineOf } from '../outline';
import { WIDTH_FAULT } from '../print';
import type { Style } from '../style';
import styles from './BatchPanel.module.css';
import { messages } from './messages';
import { decodeList, type Failure, MAX_BYTES, MAX_ROWS, readRows, type Rows } from './rows';
import { makeZip } from './worker';

interface BatchPanelProps {
  /** File name, as typed. */
  name: string;
  style: Style;
  onStyle: (style: Style) => void;
  logo: Logo | undefined;
  /** Pixels along a side of each PNG. */
  pixels: number;
  /** Width of each PDF; null if the typed width is invalid. */
  millimetres: number | null;
}

type Run =
  | { step: 'idle' }
  | { step: 'running'; done: number; of: number }
  | { step: 'ended'; words: string; failures: Failure[] };

const endings = [
  { value: '.png', text: messages.formats.png },
  { value: '.svg', text: messages.formats.svg },
  { value: '.pdf', text: messages.formats.pdf },
] as const;

/** Seconds from which the panel warns that a list takes a while. */
const SLOW_SECONDS = 30;
/** PNG creation and check on a busy computer: 500 PNGs of 800 x 800 pixels took 27 s. */
const PIXELS_PER_SECOND = 12_000_000;

const TOO_LARGE = messages.tooLarge(MAX_BYTES / 1_000_000);

/** Creates and checks the codes of a list in the current style, as a ZIP, in the browser. */
export function BatchPanel(props: BatchPanelProps) {
  const { name, style, onStyle, logo, pixels, millimetres } = props;
  const id = useId();
  const [list, setList] = useState('');
  const [ending, setEnding] = useState<FileFormat['ending']>('.png');
  const [problem, setProblem] = useState('');
  const [run, setRun] = useState<Run>({ step: 'idle' });
  const stop = useRef<AbortController>(undefined);
  const settled = useDeferredValue(list);
  const { rows, failures, notes } = useMemo(() => readList(settled), [settled]);
  /** What the user should check about the file that was opened. */
  const [fileNote, setFileNote] = useState('');
  const tooMany = rows.length + failures.length > MAX_ROWS;

  useEffect(() => () => stop.current?.abort(), []);

  const change = (next: string, note = '') => {
    setFileNote(note);
    setList(next.length > MAX_BYTES ? '' : next);
    setProblem(next.length > MAX_BYTES ? TOO_LARGE : '');
    setRun({ step: 'idle' });
  };

  const open = async (file: File | undefined) => {
    if (!file) return;
    if (file.size > MAX_BYTES) {
      setProblem(TOO_LARGE);
      return;
    }
    try {
      const { text, note } = decodeList(new Uint8Array(await file.arrayBuffer()));
      change(text, note);
    } catch (error) {
      console.warn('The list was not read', error);
      setProblem(messages.unreadable);
    }
  };

  const end = (words: string, all: Failure[]) => {
    setRun({ step: 'ended', words, failures: all.toSorted((a, b) => a.number - b.number) });
    announce(words);
  };

  const make = async () => {
    if (rows.length === 0 || tooMany) {
      setProblem(
        tooMany ? messages.tooManyRows(rows.length + failures.length, MAX_ROWS) : messages.noRows,
      );
      return;
    }
    const format = formatOf(ending, pixels, millimetres);
    if (format === null) {
      setProblem(messages.badWidth(WIDTH_FAULT));
      return;
    }
    setProblem('');
    const control = new AbortController();
    stop.current = control;
    const all = [...failures];
    setRun({ step: 'running', done: 0, of: rows.length });
    announce(messages.starting(rows.length));
    try {
      const job = {
        rows,
        wanted: format,
        style,
        logo,
        image: logo && (await pictureOf(logo)),
        caption: style.caption === null ? undefined : outlineOf(style.caption),
      };
      const onRow = (done: number, failure: Failure | null) => {
        if (failure) all.push(failure);
        setRun({ step: 'running', done, of: rows.length });
      };
      const zip = await makeZip(job, onRow, control.signal);
      const files = rows.length + failures.length - all.length;
      if (files > 0) save(zip, fileName(name, '.zip'));
      end(messages.done(files, all.length), all);
    } catch (error) {
      if (control.signal.aborted) {
        setRun({ step: 'idle' });
        return;
      }
      console.error('The codes were not made', error);
      end(messages.failed, []);
    }
  };

  const cancel = () => {
    stop.current?.abort();
    announce(messages.canceled);
  };

  const running = run.step === 'running';
  const slow = ending === '.png' ? slowText(rows.length, pixels) : '';
  const shown = run.step === 'ended' ? run.failures : failures;
  return (
    <div className={styles.panel}>
      <AreaField
        label={messages.field}
        placeholder={messages.example}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        wrap="off"
        describedBy={`${id}-count`}
        error={problem || undefined}
        value={list}
        readOnly={running}
        onChange={(event) => change(event.target.value)}
      />
      <p id={`${id}-count`} className={styles.quiet}>
        {list === ''
          ? messages.hint(MAX_ROWS, fileText(ending, pixels, millimetres))
          : [messages.count(rows.length, failures.length), ...notes].join(' ')}
      </p>
      {fileNote !== '' && (
        <p className={styles.quiet} role="status">
          {fileNote}
        </p>
      )}
      <NamedChoice
        label={messages.format}
        options={endings}
        value={ending}
        onChange={(next) => {
          setEnding(next);
          setProblem('');
        }}
      />
      <QuietZoneOffer style={style} onStyle={onStyle} />
      {slow !== '' && <p className={styles.quiet}>{slow}</p>}
      <div className={styles.actions}>
        <label className={styles.file}>
          <input
            type="file"
            accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values,text/plain"
            className={styles.input}
            disabled={running}
            onChange={(event) => {
              void open(event.target.files?.[0]);
              event.target.value = '';
            }}
          />
          {messages.open}
        </label>
        {running ? (
          <Button onClick={cancel}>{actions.cancel}</Button>
        ) : (
          <Button onClick={() => void make()}>{messages.start}</Button>
        )}
      </div>
      {running && (
        <div>
          <label className={styles.quiet} htmlFor={`${id}-progress`}>
            {messages.progress(run.done, run.of)}
          </label>
          <progress
            id={`${id}-progress`}
            className={styles.progress}
            value={run.done}
            max={run.of}
          />
        </div>
      )}
      {run.step === 'ended' && <p className={styles.words}>{run.words}</p>}
      {shown.length > 0 && (
        // It scrolls, so it must be focusable with the keyboard.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <ul className={styles.failures} aria-label={messages.failures} tabIndex={0}>
          {shown.map(({ number, name: given, cause }) => (
            <li key={number}>
              <b>{messages.row(number, given)}</b>
              {cause}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function readList(list: string): Rows {
  return list === '' ? { rows: [], failures: [], notes: [] } : readRows(list);
}

function formatOf(
  ending: FileFormat['ending'],
  pixels: number,
  millimetres: number | null,
): FileFormat | null {
  if (ending === '.png') return { ending, pixels };
  if (ending === '.svg') return { ending };
  return millimetres === null ? null : { ending, millimetres };
}

function fileText(
  ending: FileFormat['ending'],
  pixels: number,
  millimetres: number | null,
): string {
  if (ending === '.png') return messages.png(pixels);
  if (ending === '.svg') return messages.svg;
  return millimetres === null ? messages.pdf : messages.pdfOf(millimetres);
}

/** Returns a warning if the list takes more than `SLOW_SECONDS`, otherwise ''. */
function slowText(rows: number, pixels: number): string {
  const seconds = (rows * pixels * pixels) / PIXELS_PER_SECOND;
  if (seconds <= SLOW_SECONDS) return '';
  return messages.slow(rows, pixels, Math.ceil(seconds / 60));
}

async function pictureOf({ src }: Logo): Promise<ImageBitmap> {
  const image = new Image();
  image.src = src;
  await image.decode();
  return createImageBitmap(image);
}
