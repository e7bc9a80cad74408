import { useId, useState } from 'react';
import type { Link } from '../../api';
import { Field } from '../../components/Field';
import { TextButton } from '../../components/TextButton';
import { formatZone, toLocalField } from '../../lib/format';
import type { Owner } from '../../lib/owner';
import { Editor } from './Editor';
import styles from './ExpiryEditor.module.css';
import { expiry, problems } from './messages';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const quick = [
  { text: expiry.inAnHour, duration: HOUR },
  { text: expiry.inADay, duration: DAY },
  { text: expiry.inAWeek, duration: 7 * DAY },
  { text: expiry.in30Days, duration: 30 * DAY },
  { text: expiry.never, duration: null },
];

/**
 * Text of the field and the time (ISO 8601) that it means, null for no valid time.
 *
 * The time is stored because the text is ambiguous: it occurs twice when clocks go back, and it has
 * no seconds.
 */
interface End {
  text: string;
  moment: string | null;
}

const NEVER: End = { text: '', moment: null };

interface ExpiryEditorProps {
  owner: Owner;
  link: Link;
  onDone: () => void;
}

/** Form for the expiry of a link: date and time in the owner's time zone, or empty for never. */
export function ExpiryEditor({ owner, link, onDone }: ExpiryEditorProps) {
  const id = useId();
  const [{ text, moment }, setEnd] = useState(() =>
    link.expires_at === null ? NEVER : endAt(link.expires_at),
  );
  const [isOver, setOver] = useState(false);

  const enter = (end: End) => {
    setEnd(end);
    setOver(end.moment !== null && Date.parse(end.moment) <= Date.now());
  };
  const read = () => {
    if (text !== '' && moment === null) return problems.INVALID_EXPIRY;
    return { expires_at: moment };
  };

  return (
    <Editor owner={owner} code={link.code} read={read} onDone={onDone}>
      {(problem) => (
        <>
          <Field
            label={expiry.field}
            type="datetime-local"
            value={text}
            onChange={(event) => enter(parseEnd(event.target.value))}
            describedBy={id}
            error={problem?.text}
            attempt={problem?.attempt}
          />
          <p id={id} className={styles.hint}>
            {expiry.timeZone(formatZone(moment === null ? new Date() : new Date(moment)))}{' '}
            {text === '' && expiry.noDate}
            {isOver && expiry.past}
          </p>
          <div className={styles.quick} role="group" aria-label={expiry.quick}>
            {quick.map((choice) => (
              <TextButton
                key={choice.text}
                onClick={() => enter(choice.duration === null ? NEVER : endIn(choice.duration))}
              >
                {choice.text}
              </TextButton>
            ))}
          </div>
        </>
      )}
    </Editor>
  );
}

function endAt(moment: string): End {
  return { text: toLocalField(new Date(moment)), moment };
}

/** Returns the time after `duration`, rounded up to a whole minute as in the field. */
function endIn(duration: number): End {
  const minutes = Math.ceil((Date.now() + duration) / MINUTE);
  return endAt(new Date(minutes * MINUTE).toISOString());
}

/** Returns the time of a text, the first one if two times have the same text. */
function parseEnd(text: string): End {
  const moment = new Date(text);
  return { text, moment: Number.isNaN(moment.getTime()) ? null : moment.toISOString() };
}
