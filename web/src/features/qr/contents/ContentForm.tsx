import { Checkbox } from '../../../components/Checkbox';
import { Choice } from '../../../components/Choice';
import { Field } from '../../../components/Field';
import { AreaField } from '../../../components/AreaField';
import styles from './ContentForm.module.css';
import type { Entry, Kind } from './kinds';
import { type Faults, type Filled, TICKED } from './written';

interface ContentFormProps {
  kind: Kind<string>;
  filled: Filled<string>;
  faults: Faults<string>;
  onFilled: (filled: Filled<string>) => void;
  /** Called when a field loses the focus. Its fault is shown from then on. */
  onLeave: (field: string) => void;
}

/** The fields of one kind of content. There is no submit: each change updates the code. */
export function ContentForm({ kind, filled, faults, onFilled, onLeave }: ContentFormProps) {
  return (
    <div className={styles.form}>
      {kind.entries
        .filter(({ when }) => when?.(filled) ?? true)
        .map((entry) => (
          <div
            key={entry.field}
            className={entry.as === 'line' && entry.half ? undefined : styles.whole}
          >
            <EntryField
              entry={entry}
              value={filled[entry.field] ?? ''}
              error={faults[entry.field]}
              onBlur={() => onLeave(entry.field)}
              onValue={(value) => onFilled({ ...filled, [entry.field]: value })}
            />
          </div>
        ))}
      {kind.note && <p className={styles.note}>{kind.note(filled)}</p>}
    </div>
  );
}

interface EntryFieldProps {
  entry: Entry<string>;
  value: string;
  error: string | undefined;
  onBlur: () => void;
  onValue: (value: string) => void;
}

function EntryField({ entry, value, error, onBlur, onValue }: EntryFieldProps) {
  switch (entry.as) {
    case 'choice':
      return (
        <Choice label={entry.label} options={entry.options} value={value} onChange={onValue} />
      );
    case 'tick':
      return (
        <Checkbox
          label={entry.label}
          checked={value === TICKED}
          onChange={(event) => onValue(event.target.checked ? TICKED : '')}
        />
      );
    case 'lines':
      return (
        <AreaField
          label={entry.label}
          autoComplete="off"
          value={value}
          error={error}
          onBlur={onBlur}
          onChange={(event) => onValue(event.target.value)}
        />
      );
    case 'line':
      return (
        <Field
          label={entry.label}
          type={entry.type ?? 'text'}
          inputMode={entry.inputMode}
          max={entry.max}
          placeholder={entry.placeholder}
          autoComplete={entry.autoComplete ?? 'off'}
          {...(entry.literal && { autoCapitalize: 'none', autoCorrect: 'off', spellCheck: false })}
          dir="auto"
          value={value}
          error={error}
          onBlur={onBlur}
          onChange={(event) => onValue(event.target.value)}
        />
      );
  }
}
