import { useId, useState, type SubmitEvent } from 'react';
import { Failure, failureCode, failureReason, reportLink, type BlockReason } from '../../api';
import { AreaField } from '../../components/AreaField';
import { Button } from '../../components/Button';
import { Choice } from '../../components/Choice';
import { Dialog, DialogActions } from '../../components/Dialog';
import { Field } from '../../components/Field';
import { FieldError } from '../../components/FieldError';
import { Label } from '../../components/Label';
import { fromNow } from '../../lib/format';
import { useHere } from '../../lib/useHere';
import { MOST_DETAILS, reportMessages, reportReasons } from './messages';
import styles from './ReportDialog.module.css';

interface ReportDialogProps {
  code: string;
  onClose: () => void;
  onSent: () => void;
}

interface Problem {
  at: 'reason' | 'details' | 'contact' | 'form';
  text: string;
  /** Which try it is of. */
  attempt: number;
}

/** What somebody has to say against a link, sent to the operator. */
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
      if (known === 'INVALID_CONTACT') fail('contact', reportMessages.badContact);
      else if (known === 'INVALID_DETAILS') fail('details', reportMessages.longDetails);
      else fail('form', whyNotSent(error));
    }
  };

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    if (reason === '') fail('reason', reportMessages.noReason);
    else if (Array.from(details).length > MOST_DETAILS) fail('details', reportMessages.longDetails);
    else if (contact.trim() !== '' && !contact.includes('@'))
      fail('contact', reportMessages.badContact);
    else void send(reason);
  };

  return (
    <Dialog title="Report this link" onClose={onClose}>
      <form className={styles.form} onSubmit={onSubmit} noValidate>
        <div>
          <Label id={id}>What is wrong with it?</Label>
          <Choice
            label="What is wrong with it?"
            options={reportReasons}
            value={reason}
            onChange={setReason}
          />
          <FieldError
            id={`${id}-error`}
            text={problemAt('reason')?.text}
            attempt={problemAt('reason')?.attempt}
          />
        </div>
        <AreaField
          label="What did you see? (optional)"
          value={details}
          onChange={(event) => setDetails(event.target.value)}
          error={problemAt('details')?.text}
        />
        <Field
          label="Your email, if you may be asked (optional)"
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
          <Button type="submit" look="sign" busy={busy}>
            Send report
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function whyNotSent(error: unknown): string {
  const failure = error instanceof Failure ? error : null;
  if (failure?.code === 'no-exist') return reportMessages.gone;
  if (failure?.code === 'outdated') return reportMessages.outdated;
  if (failure?.code === 'resource-exhausted' && failure.retryAfter !== undefined)
    return reportMessages.tooMany(fromNow(failure.retryAfter));
  return reportMessages.failed;
}
