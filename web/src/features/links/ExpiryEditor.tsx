import { useId, useState } from 'react';
import type { Link } from '../../api';
import { Field } from '../../components/Field';
import { TextButton } from '../../components/TextButton';
import { formatZone, toLocalField } from '../../lib/format';
import type { Owner } from '../../lib/owner';
import { Editor } from './Editor';
import styles from './ExpiryEditor.module.css';
import { changeMessages } from './messages';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const quick = [
  { text: 'In an hour', duration: HOUR },
  { text: 'In a day', duration: DAY },
  { text: 'In a week', duration: 7 * DAY },
  { text: 'In 30 days', duration: 30 * DAY },
  { text: 'Never', duration: null },
];

interface ExpiryEditorProps {
  owner: Owner;
  link: Link;
  onDone: () => void;
}

/** When a link ends: a date and a time where its owner is; none for never. */
export function ExpiryEditor({ owner, link, onDone }: ExpiryEditorProps) {
  const id = useId();
  const [value, setValue] = useState(
    link.expires_at === null ? '' : toLocalField(new Date(link.expires_at)),
  );
  const [isOver, setOver] = useState(false);
  const moment = new Date(value);
  const isMoment = !Number.isNaN(moment.getTime());

  const enter = (entered: string) => {
    setValue(entered);
    setOver(Date.parse(entered) <= Date.now());
  };
  const read = () => {
    if (value === '') return { expires_at: null };
    return isMoment ? { expires_at: moment.toISOString() } : (changeMessages.INVALID_EXPIRY ?? '');
  };

  return (
    <Editor owner={owner} code={link.code} read={read} onDone={onDone}>
      {(problem) => (
        <>
          <Field
            label="Ends at"
            type="datetime-local"
            value={value}
            onChange={(event) => enter(event.target.value)}
            describedBy={id}
            error={problem?.text}
            attempt={problem?.attempt}
          />
          <p id={id} className={styles.hint}>
            {formatZone(isMoment ? moment : new Date())}.{' '}
            {value === '' && 'Without a date it never ends.'}
            {isOver && 'This is over: the link ends at once.'}
          </p>
          <div className={styles.quick} role="group" aria-label="Ends">
            {quick.map(({ text, duration }) => (
              <TextButton
                key={text}
                onClick={() =>
                  enter(duration === null ? '' : toLocalField(new Date(Date.now() + duration)))
                }
              >
                {text}
              </TextButton>
            ))}
          </div>
        </>
      )}
    </Editor>
  );
}
