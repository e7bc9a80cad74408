import {
  useEffect,
  useEffectEvent,
  useRef,
  useState,
  type ReactNode,
  type SubmitEvent,
} from 'react';
import { useMutation } from '@tanstack/react-query';
import type { LinkChanges } from '../../api';
import { cache } from '../../api/cache';
import { Button } from '../../components/Button';
import { DialogActions } from '../../components/Dialog';
import { actions } from '../../components/messages';
import { announce } from '../../lib/announce';
import type { Owner } from '../../lib/owner';
import { changeOf } from './changes';
import styles from './Editor.module.css';
import { changeProblem } from './changeProblem';
import { details } from './messages';

export interface FieldProblem {
  text: string;
  /** Counts the attempts, so that the same problem is announced again. */
  attempt: number;
}

interface EditorProps {
  owner: Owner;
  code: string;
  /** Returns the changes, or the error text if the input is invalid. */
  read: () => LinkChanges | string;
  onDone: () => void;
  children: (problem: FieldProblem | undefined) => ReactNode;
}

/** An inline form for fields of a link. */
export function Editor({ owner, code, read, onDone, children }: EditorProps) {
  const form = useRef<HTMLFormElement>(null);
  const { mutate, isPending: busy } = useMutation(
    { ...changeOf(owner, code), onSuccess: () => announce(details.saved) },
    cache,
  );
  const [problem, setProblem] = useState<FieldProblem>();
  useEffect(() => focusField(form.current), []);

  // A change in flight cannot be canceled: the form stays open to show its result.
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
    focusField(form.current);
  };

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    const changes = read();
    if (typeof changes === 'string') {
      fail(changes);
      return;
    }
    setProblem(undefined);
    mutate(changes, {
      onSuccess: onDone,
      onError: (error) => fail(changeProblem(error)),
    });
  };

  return (
    <form ref={form} className={styles.form} noValidate onSubmit={onSubmit}>
      {children(problem)}
      <DialogActions>
        <Button type="submit" busy={busy}>
          {details.save}
        </Button>
        <Button aria-disabled={busy || undefined} onClick={cancel}>
          {actions.cancel}
        </Button>
      </DialogActions>
    </form>
  );
}

function focusField(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLElement>('input, select')?.focus();
}
