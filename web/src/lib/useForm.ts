import { useRef, useState, type SubmitEvent } from 'react';
import { useHere } from './useHere';

/**
 * What is wrong with the fields of a form, by their names and in their order: the text that a field
 * shows, or true if it shows the problem itself.
 */
type Problems<Name extends string> = { [name in Name]?: string | true | undefined };

interface FormOptions<P> {
  check: () => P;
  /** Runs once `check` finds no problem. */
  submit: () => Promise<void>;
  /**
   * Explains a failure that the form expects: as problems of fields, or as a text. Returns undefined
   * for any other failure, and no problems for one that needs no text.
   */
  explain: (error: unknown) => Partial<P> | string | undefined;
  /** Returns the text of every other failure, which is logged, too. */
  failureText: (error: unknown) => string;
  /** Whether the form stays open after it was submitted. */
  staysOpen?: boolean;
}

export interface FormState<P> {
  problems: Partial<P>;
  /** Counts the checks, so that the same problem is announced again. */
  attempt: number;
  busy: boolean;
  /** Text of a failure that concerns no field; '' for none. */
  failed: string;
  onSubmit: (event: SubmitEvent<HTMLFormElement>) => void;
}

/** A form that is submitted once at a time. It focuses the first field that has a problem. */
export function useForm<P extends Problems<Extract<keyof P, string>>>({
  check,
  submit,
  explain,
  failureText,
  staysOpen = false,
}: FormOptions<P>): FormState<P> {
  /** The submitted form. */
  const element = useRef<HTMLFormElement>(null);
  const [problems, setProblems] = useState<Partial<P>>({});
  const [attempt, setAttempt] = useState(0);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState('');
  const isHere = useHere();

  /** Shows problems. Returns whether there are any. */
  const show = (found: Partial<P>): boolean => {
    setProblems(found);
    setAttempt((last) => last + 1);
    const [name] = Object.entries(found).find(([, problem]) => problem !== undefined) ?? [];
    if (name === undefined) return false;
    element.current?.querySelector<HTMLInputElement>(`[name="${name}"]`)?.focus();
    return true;
  };

  const run = async () => {
    setBusy(true);
    try {
      await submit();
      if (staysOpen && isHere()) setBusy(false);
    } catch (error) {
      const explained = explain(error);
      if (explained === undefined) console.error(error);
      if (!isHere()) return;
      setBusy(false);
      if (typeof explained === 'object') show(explained);
      else setFailed(explained ?? failureText(error));
    }
  };

  const onSubmit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    element.current = event.currentTarget;
    setFailed('');
    if (!show(check())) void run();
  };

  return { problems, attempt, busy, failed, onSubmit };
}
