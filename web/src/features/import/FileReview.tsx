import { useId, useState } from 'react';
import { Button } from '../../components/Button';
import { Checkbox } from '../../components/Checkbox';
import { Select } from '../../components/Select';
import { viewerZone } from '../../lib/calendar';
import styles from './Importer.module.css';
import { columnsQuestion, messages, problems, sourceNames, zoneQuestion } from './messages';
import { SOURCES, type Columns, type Questions, type Source } from './parsed';
import { limitOf } from './rowTexts';
import type { FileOptions, OpenFile } from './useImporter';

interface FileReviewProps {
  file: OpenFile;
  problem: string;
  /** Reads the file again with other options. */
  onRead: (options: FileOptions) => void;
  onCheck: () => void;
  onOther: () => void;
}

const formats = SOURCES.map((value) => ({ value, text: sourceNames[value] })).sort((one, other) =>
  one.text.localeCompare(other.text),
);

/** Shows the format detected in a file, and the questions that only the user can answer. */
export function FileReview({ file, problem, onRead, onCheck, onOther }: FileReviewProps) {
  const { summary, rows, name, options, question } = file;
  const { source, questions } = summary;
  const isOther = options.source !== undefined && options.source !== source;
  return (
    <div className={styles.stack}>
      <h2>{messages.found(rows.length, name)}</h2>
      <p>{limitOf(source)}</p>
      {summary.problems.length > 0 && (
        <ul className={styles.notes}>
          {summary.problems.map(({ code, count }) => (
            <li key={code}>{problems[code](count)}</li>
          ))}
        </ul>
      )}
      <div className={styles.form}>
        <Select
          label={messages.format}
          options={formats}
          value={source}
          onChange={(next: Source) => onRead({ ...options, source: next, columns: undefined })}
        />
        {questions.zone && (
          <div>
            <Select
              label={messages.zone}
              aria-describedby="zone-question"
              options={zoneOptions(options.zone)}
              value={options.zone ?? 'UTC'}
              onChange={(zone) => onRead({ ...options, zone })}
            />
            <p id="zone-question" className={styles.quiet}>
              {zoneQuestion(questions.zone.count)}
            </p>
          </div>
        )}
      </div>
      {isOther && options.source && (
        <p role="alert">{messages.notSource(sourceNames[options.source])}</p>
      )}
      {question && (
        <ColumnsForm
          question={question}
          chosen={options.columns}
          onApply={(columns) => onRead({ ...options, columns })}
        />
      )}
      {problem !== '' && (
        <p role="alert" className={styles.error}>
          {problem}
        </p>
      )}
      <div className={styles.buttons}>
        {rows.length > 0 && (
          <Button variant="primary" onClick={onCheck}>
            {messages.check}
          </Button>
        )}
        <Button onClick={onOther}>{messages.otherFile}</Button>
      </div>
      <p className={styles.quiet}>{messages.checkHint}</p>
    </div>
  );
}

/** Returns the options of the time zone: UTC and the viewer's zone first. */
function zoneOptions(chosen = 'UTC') {
  const first = ['UTC', viewerZone(), chosen];
  return [...new Set([...first, ...Intl.supportedValuesOf('timeZone')])].map((value) => ({
    value,
    text: value.replaceAll('_', ' '),
  }));
}

type Question = NonNullable<Questions['columns']>;
type Field = Exclude<keyof Columns, 'header'>;

const NO_COLUMN = '';
const FIELDS = Object.keys(messages.fields) as Field[];

interface ColumnsFormProps {
  question: Question;
  chosen: Columns | undefined;
  onApply: (columns: Columns) => void;
}

/** Asks which columns contain which fields. The guesses are filled in. */
function ColumnsForm({ question, chosen, onApply }: ColumnsFormProps) {
  const id = useId();
  const [columns, setColumns] = useState(chosen ?? question.guess);
  const [problem, setProblem] = useState('');
  const { headers, sample } = question;
  const width = Math.max(headers.length, ...sample.map(({ length }) => length));
  const nameOf = (index: number) =>
    headers[index] || messages.column(index + 1, (sample[0]?.[index] ?? '').slice(0, 30));
  const all = Array.from({ length: width }, (_, index) => ({
    value: String(index),
    text: nameOf(index),
  }));
  const apply = () => {
    if (columns.destination === null) setProblem(messages.noDestination);
    else onApply(columns);
  };
  return (
    <>
      <fieldset className={styles.form}>
        <legend>{columnsQuestion}</legend>
        {FIELDS.map((field) => (
          <Select
            key={field}
            label={messages.fields[field]}
            options={[{ value: NO_COLUMN, text: messages.noColumn }, ...all]}
            value={String(columns[field] ?? NO_COLUMN)}
            onChange={(value) => {
              setProblem('');
              setColumns({ ...columns, [field]: value === NO_COLUMN ? null : Number(value) });
            }}
          />
        ))}
        <Checkbox
          label={messages.hasHeader}
          checked={columns.header}
          onChange={(event) => setColumns({ ...columns, header: event.target.checked })}
        />
      </fieldset>
      {/* It scrolls, so it must be focusable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={styles.sample} role="region" aria-labelledby={id} tabIndex={0}>
        <table>
          <caption id={id}>{messages.sample}</caption>
          <thead>
            <tr>
              {all.map(({ value }, index) => (
                <th key={value} scope="col">
                  {headers[index] || messages.column(index + 1, '')}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sample.map((cells, row) => (
              <tr key={row}>
                {all.map(({ value }, index) => (
                  <td key={value}>{cells[index] ?? ''}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {problem !== '' && (
        <p role="alert" className={styles.error}>
          {problem}
        </p>
      )}
      <div>
        <Button onClick={apply}>{messages.applyColumns}</Button>
      </div>
    </>
  );
}
