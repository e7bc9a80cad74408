import { useMemo, useState } from 'react';
import type { Verdict } from '../../api';
import { Button } from '../../components/Button';
import { Checkbox } from '../../components/Checkbox';
import { Choice } from '../../components/Choice';
import { save } from '../../lib/save';
import styles from './Importer.module.css';
import { messages, verdictNames } from './messages';
import type { Row, SourceState } from './parsed';
import { actionOf, type Choices } from './plan';
import { limitOf } from './rowTexts';
import { RowTable } from './RowTable';
import type { OpenFile } from './useImporter';
import { verdictsFile } from './verdictsFile';

interface CheckedProps {
  file: OpenFile;
  verdicts: Verdict[];
  onImport: (choices: Choices) => void;
  onOther: () => void;
}

const NEEDS_CODE: readonly Verdict[] = ['taken', 'reserved', 'not a code'];

/** The result of the dry run: what would happen to each row, and the options. */
export function Checked({ file, verdicts, onImport, onOther }: CheckedProps) {
  const { rows, summary } = file;
  const [choices, setChoices] = useState<Choices>({ newCodes: true, states: new Set() });
  const [shown, setShown] = useState<Verdict | 'all'>('all');

  const counts = useMemo(() => countsOf(verdicts), [verdicts]);
  const states = useMemo(() => statesOf(rows), [rows]);
  const importable = useMemo(
    () =>
      rows.reduce(
        (sum, row, index) => sum + Number(actionOf(row, at(verdicts, index), choices) !== 'skip'),
        0,
      ),
    [rows, verdicts, choices],
  );
  const indexes = useMemo(() => {
    const all = [...rows.keys()];
    return shown === 'all' ? all : all.filter((index) => verdicts[index] === shown);
  }, [rows, verdicts, shown]);

  const filters = [
    { value: 'all' as const, text: messages.filterOf(messages.all, rows.length) },
    ...Array.from(counts, ([value, count]) => ({
      value,
      text: messages.filterOf(verdictNames[value], count),
    })),
  ];
  const needCode = NEEDS_CODE.reduce((sum, verdict) => sum + (counts.get(verdict) ?? 0), 0);
  const include = (state: SourceState, isIncluded: boolean) => {
    const next = new Set(choices.states);
    if (isIncluded) next.add(state);
    else next.delete(state);
    setChoices({ ...choices, states: next });
  };

  return (
    <div className={styles.stack}>
      <h2>{messages.checked(rows.length)}</h2>
      <p>{limitOf(summary.source)}</p>
      <fieldset className={styles.options}>
        <legend>{messages.options}</legend>
        <Checkbox
          label={messages.newCodes}
          hint={messages.newCodesHint(needCode)}
          checked={choices.newCodes}
          onChange={(event) => setChoices({ ...choices, newCodes: event.target.checked })}
        />
        {Array.from(states, ([state, count]) => (
          <Checkbox
            key={state}
            label={messages.include(state, count)}
            checked={choices.states.has(state)}
            onChange={(event) => include(state, event.target.checked)}
          />
        ))}
      </fieldset>
      <div className={styles.buttons}>
        {importable > 0 ? (
          <Button variant="primary" onClick={() => onImport(choices)}>
            {messages.import(importable)}
          </Button>
        ) : (
          <p>{messages.nothing}</p>
        )}
        <Button onClick={() => save(verdictsFile(rows, verdicts, choices), messages.checkFile)}>
          {messages.download}
        </Button>
        <Button onClick={onOther}>{messages.otherFile}</Button>
      </div>
      <Choice label={messages.filter} options={filters} value={shown} onChange={setShown} />
      <RowTable key={shown} rows={rows} verdicts={verdicts} choices={choices} indexes={indexes} />
    </div>
  );
}

function at(verdicts: readonly Verdict[], index: number): Verdict {
  return verdicts[index] ?? 'unreadable';
}

function countsOf(verdicts: readonly Verdict[]): Map<Verdict, number> {
  const counts = new Map<Verdict, number>();
  for (const verdict of verdicts) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  return counts;
}

function statesOf(rows: readonly Row[]): Map<SourceState, number> {
  const counts = new Map<SourceState, number>();
  for (const { state } of rows) {
    if (state !== null) counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return counts;
}
