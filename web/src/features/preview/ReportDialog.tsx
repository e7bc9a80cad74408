import { useId, useState, type SubmitEvent } from 'react';
import { Failure, failureCode, failureReason, reportLink, type BlockReason } from '../../api';
import { AreaField } from '../../components/AreaField';
import { Button } from '../../components/Button';
import { Choice } from '../../components/Choice';
import { Dialog, DialogActions } from '../../components/Dialog';
import { Field } from '../../components/Field';
import { FieldError } from '../../components/FieldError';
import { Label } from '../../components/Label';
import { actions } from '../../components/messages';
import { fromNow } from '../../lib/format';
import { useHere } from '../../lib/useHere';
import { messages } from './messages';
import styles from './ReportDialog.module.css';

/** Maximum length in Unicode code points. */
const MAX_DETAILS = 1000;

const reasons = Object.entries(messages.reasons).map(([value, text]) => ({
  value: value as BlockReason,
  text,
}));

interface ReportDialogProps {
  code: string;
  onClose: () => void;
  onSent: () => void;
}

interface Problem {
  at: 'reason' | 'details' | 'contact' | 'form';
  text: string;
  /** Number of the attempt. */
  attempt: number;
}

/** A form that reports a link to the operator. */
export function ReportDialog({ code, onClose, onSent }: ReportDialogProps) {
  const id = useId();
  const [reason, setReason] = useState<BlockReason | ''>('');
  const [details, setDetails] = useState('');
  const [contact, setContact] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const isHere = useHere();

  const fail = (at: Problem['at'], text: string) =>
    setProblem((known) => ({ at, text, attempt: (known?.attempt ?? 0) + 1 }));
  const problemAt = (at: Problem['at']) => (problem?.at === at ? problem : undefined);

  const send = async (chosen: BlockReason) => {
    setProblem(undefined);
    setBusy(true);
    try {
      await reportLink({ code, reason: chosen, details, contact: contact.trim() });
      if (isHere()) onSent();
    } catch (error) {
      const known = failureReason(error);
      if (failureCode(error) === 'failed') console.error(error);
      if (!isHere()) return;
      setBusy(false);
      if (known === 'INVALID_CONTACT') fail('contact', messages.badContact);
      else if (known === 'INVALID_DETAILS') fail('details', messages.longDetails);
      else fail('form', whyNotSent(error));
    }
  };

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    if (reason === '') fail('reason', messages.noReason);
    else if (Array.from(details).length > MAX_DETAILS) fail('details', messages.longDetails);
    else if (contact.trim() !== '' && !contact.includes('@')) fail('contact', messages.badContact);
    else void send(reason);
  };

  return (
    <Dialog title={messages.reportTitle} onClose={onClose}>
      <form className={styles.form} onSubmit={onSubmit} noValidate>
        <div>
          <Label id={id}>{messages.reason}</Label>
          <Choice label={messages.reason} options={reasons} value={reason} onChange={setReason} />
          <FieldError
            id={`${id}-error`}
            text={problemAt('reason')?.text}
            attempt={problemAt('reason')?.attempt}
          />
        </div>
        <AreaField
          label={messages.details}
          value={details}
          onChange={(event) => setDetails(event.target.value)}
          error={problemAt('details')?.text}
        />
        <Field
          label={messages.contact}
          type="email"
          name="email"
          autoComplete="email"
          value={contact}
          onChange={(event) => setContact(event.target.value)}
          error={problemAt('contact')?.text}
          attempt={problemAt('contact')?.attempt}
        />
        <FieldError
          id={`${id}-failed`}
          text={problemAt('form')?.text}
          attempt={problemAt('form')?.attempt}
        />
        <DialogActions>
          <Button type="submit" variant="primary" busy={busy}>
            {messages.send}
          </Button>
          <Button onClick={onClose}>{actions.cancel}</Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function whyNotSent(error: unknown): string {
  const failure = error instanceof Failure ? error : null;
  if (failure?.code === 'no-exist') return messages.gone;
  if (failure?.code === 'outdated') return messages.outdated;
  if (failure?.code === 'resource-exhausted' && failure.retryAfter !== undefined)
    return messages.tooMany(fromNow(failure.retryAfter));
  return messages.failed;
}
