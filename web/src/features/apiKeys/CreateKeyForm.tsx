import { useId, useRef, useState, type SubmitEvent } from 'react';
import { failureCode, type Scope } from '../../api';
import { createKey } from '../../api/apiKeys';
import { Button } from '../../components/Button';
import { Checkbox } from '../../components/Checkbox';
import { Field, PasswordField } from '../../components/Field';
import { FieldError } from '../../components/FieldError';
import { Select } from '../../components/Select';
import { endSessionOf, type Account } from '../../lib/owner';
import { codePoints } from '../../lib/text';
import { useHere } from '../../lib/useHere';
import styles from './ApiKeys.module.css';
import { failureText } from './failureText';
import { form, scopeTexts } from './messages';

const DAY = 86_400_000;
const MAX_NAME = 50;

type Lifetime = keyof typeof form.lifetimes;

/** Days until a key expires, null for never. */
const days: Record<Lifetime, number | null> = {
  never: null,
  week: 7,
  month: 30,
  quarter: 90,
  year: 365,
};
const lifetimes = Object.keys(days) as Lifetime[];
const scopes = Object.keys(scopeTexts) as Scope[];

export interface NewKey {
  name: string;
  /** The key itself, which the server does not store. */
  text: string;
}

/** The texts of what is wrong with the fields. */
interface Problem {
  name?: string | undefined;
  scopes?: string | undefined;
  password?: string | undefined;
}

interface CreateKeyFormProps {
  account: Account;
  onCreated: (key: NewKey) => void;
}

export function CreateKeyForm({ account, onCreated }: CreateKeyFormProps) {
  const id = useId();
  const element = useRef<HTMLFormElement>(null);
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<readonly Scope[]>(['links:read']);
  const [lifetime, setLifetime] = useState<Lifetime>('quarter');
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState<Problem>({});
  const [attempt, setAttempt] = useState(0);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState('');
  const isHere = useHere();

  const focus = (field: string) =>
    element.current?.querySelector<HTMLInputElement>(`[name="${field}"]`)?.focus();

  const create = async () => {
    setBusy(true);
    setFailed('');
    const duration = days[lifetime];
    try {
      const text = await createKey(account, {
        password,
        name: name.trim(),
        scopes: chosen,
        expires_at: duration === null ? null : new Date(Date.now() + duration * DAY).toISOString(),
      });
      if (isHere()) onCreated({ name: name.trim(), text });
    } catch (error) {
      const code = failureCode(error);
      if (code === 'invalid-token' || code === 'no-logged') {
        endSessionOf(account);
        return;
      }
      if (code !== 'incorrect') console.error(error);
      if (!isHere()) return;
      setBusy(false);
      if (code === 'incorrect') {
        setProblem({ password: form.incorrect });
        setAttempt((last) => last + 1);
        focus('password');
      } else setFailed(failureText(error));
    }
  };

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    const length = codePoints(name.trim());
    const found: Problem = {
      name: length === 0 || length > MAX_NAME ? form.noName : undefined,
      scopes: chosen.length === 0 ? form.noScopes : undefined,
      password: password === '' ? form.noPassword : undefined,
    };
    setProblem(found);
    setAttempt(attempt + 1);
    if (found.name) focus('key-name');
    else if (found.scopes) focus('scope');
    else if (found.password) focus('password');
    else void create();
  };

  const toggle = (scope: Scope) =>
    setChosen(scopes.filter((one) => (one === scope) !== chosen.includes(one)));

  return (
    <form ref={element} className={styles.form} onSubmit={onSubmit} noValidate>
      <h3>{form.title}</h3>
      <div>
        <Field
          label={form.name}
          name="key-name"
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.target.value)}
          describedBy={`${id}-name`}
          error={problem.name}
          attempt={attempt}
          aria-required
        />
        <p id={`${id}-name`} className={styles.quiet}>
          {form.nameHint}
        </p>
      </div>
      <fieldset className={styles.scopes} aria-describedby={`${id}-scopes`}>
        <legend>{form.scopes}</legend>
        {scopes.map((scope) => (
          <Checkbox
            key={scope}
            name="scope"
            checked={chosen.includes(scope)}
            onChange={() => toggle(scope)}
            label={
              <span>
                <code>{scope}</code> <span className={styles.quiet}>{scopeTexts[scope]}</span>
              </span>
            }
          />
        ))}
        <FieldError id={`${id}-scopes`} text={problem.scopes} attempt={attempt} />
      </fieldset>
      <Select
        label={form.expiry}
        options={lifetimes.map((value) => ({ value, text: form.lifetimes[value] }))}
        value={lifetime}
        onChange={setLifetime}
      />
      <PasswordField
        label={form.password}
        name="password"
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={problem.password}
        attempt={attempt}
        aria-required
      />
      <p className={styles.failed} role="alert">
        {failed}
      </p>
      <div>
        <Button type="submit" busy={busy}>
          {form.create}
        </Button>
      </div>
    </form>
  );
}
