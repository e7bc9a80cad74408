import { useId, useState } from 'react';
import { failureCode, type Scope } from '../../api';
import { createKey } from '../../api/apiKeys';
import { endRefusedSession } from '../../api/endRefusedSession';
import { goToConfirm } from '../../api/oidc';
import { useConfirmingProvider } from '../../api/useConnections';
import { Button } from '../../components/Button';
import { Checkbox } from '../../components/Checkbox';
import { CurrentPassword } from '../../components/CurrentPassword';
import { Field } from '../../components/Field';
import { FieldError } from '../../components/FieldError';
import { Select } from '../../components/Select';
import type { Account } from '../../lib/owner';
import { codePoints } from '../../lib/text';
import { useForm } from '../../lib/useForm';
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

interface CreateKeyFormProps {
  account: Account;
  onCreated: (key: NewKey) => void;
}

export function CreateKeyForm({ account, onCreated }: CreateKeyFormProps) {
  const id = useId();
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<readonly Scope[]>(['links:read']);
  const [lifetime, setLifetime] = useState<Lifetime>('quarter');
  const [password, setPassword] = useState('');
  const provider = useConfirmingProvider(account);
  const isHere = useHere();

  const { problems, attempt, busy, failed, onSubmit } = useForm({
    check: () => {
      const length = codePoints(name.trim());
      return {
        'key-name': length === 0 || length > MAX_NAME ? form.noName : undefined,
        scope: chosen.length === 0 ? form.noScopes : undefined,
        password: password === '' && provider === undefined ? form.noPassword : undefined,
      };
    },
    submit: async () => {
      const duration = days[lifetime];
      const text = await createKey(account, {
        password: provider === undefined ? password : null,
        name: name.trim(),
        scopes: chosen,
        expires_at: duration === null ? null : new Date(Date.now() + duration * DAY).toISOString(),
      });
      if (isHere()) onCreated({ name: name.trim(), text });
    },
    explain: (error) => {
      if (endRefusedSession(account, error)) return {};
      if (failureCode(error) === 'confirm') return { password: form.confirm };
      return failureCode(error) === 'incorrect' ? { password: form.incorrect } : undefined;
    },
    failureText,
  });

  const toggle = (scope: Scope) =>
    setChosen(scopes.filter((known) => (known === scope) !== chosen.includes(known)));

  return (
    <form className={styles.form} onSubmit={onSubmit} noValidate>
      <h3>{form.title}</h3>
      <div>
        <Field
          label={form.name}
          name="key-name"
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.target.value)}
          describedBy={`${id}-name`}
          error={problems['key-name']}
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
        <FieldError id={`${id}-scopes`} text={problems.scope} attempt={attempt} />
      </fieldset>
      <Select
        label={form.expiry}
        options={lifetimes.map((value) => ({ value, text: form.lifetimes[value] }))}
        value={lifetime}
        onChange={setLifetime}
      />
      <CurrentPassword
        label={form.password}
        value={password}
        onValue={setPassword}
        error={problems.password}
        attempt={attempt}
        provider={provider}
        onConfirm={() => goToConfirm(account, failureText)}
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
