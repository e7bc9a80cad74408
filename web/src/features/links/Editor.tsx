import {
  useEffect,
  useEffectEvent,
  useRef,
  useState,
  type ReactNode,
  type SubmitEvent,
} from 'react';
import { failureCode, failureReason, type LinkChanges } from '../../api';
import { Button } from '../../components/Button';
import { DialogActions } from '../../components/Dialog';
import { announce } from '../../lib/announce';
import type { Owner } from '../../lib/owner';
import { useHere } from '../../lib/useHere';
import styles from './Editor.module.css';
import { change } from './links';
import { changeMessages, notChanged } from './messages';

export interface FieldProblem {
  text: string;
  /** Counts the tries, so that the same problem is announced again. */
  attempt: number;
}

interface EditorProps {
  owner: Owner;
  code: string;
  /** What is to change; or in words what is wrong with what was entered. */
  read: () => LinkChanges | string;
  onDone: () => void;
  children: (problem: FieldProblem | undefined) => ReactNode;
}

/** A form in the page for some of what belongs to a link. */
export function Editor({ owner, code, read, onDone, children }: EditorProps) {
  const form = useRef<HTMLFormElement>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<FieldProblem>();
  const isHere = useHere();
  useEffect(() => form.current?.querySelector('input')?.focus(), []);

  // What is being saved cannot be called back: the form stays to say how that went.
  const cancel = () => {
    if (!busy) onDone();
  };
  const onEscape = useEffectEvent(cancel);
  useEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') onEscape();
    };
    const element = form.current;
    element?.addEventListener('keydown', onKeyDown);
    return () => element?.removeEventListener('keydown', onKeyDown);
  }, []);

  const fail = (text: string) => {
    setProblem((known) => ({ text, attempt: (known?.attempt ?? 0) + 1 }));
    form.current?.querySelector('input')?.focus();
  };

  const save = async () => {
    const changes = read();
    if (typeof changes === 'string') {
      fail(changes);
      return;
    }
    setBusy(true);
    setProblem(undefined);
    try {
      await change(owner, code, changes);
      announce('Saved');
      if (isHere()) onDone();
    } catch (error) {
      const reason = failureReason(error);
      const words = reason && changeMessages[reason];
      if (!words || failureCode(error) !== 'invalid-argument') console.error(error);
      if (!isHere()) return;
      setBusy(false);
      fail(words ?? notChanged);
    }
  };

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!busy) void save();
  };

  return (
    <form ref={form} className={styles.form} noValidate onSubmit={onSubmit}>
      {children(problem)}
      <DialogActions>
        <Button type="submit" busy={busy}>
          Save
        </Button>
        <Button aria-disabled={busy || undefined} onClick={cancel}>
          Cancel
        </Button>
      </DialogActions>
    </form>
  );
}
