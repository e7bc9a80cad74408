import { Mark } from '../../components/Mark';
import { VisuallyHidden } from '../../components/VisuallyHidden';
import { language } from '../../lib/language';
import { messages, register } from './messages';
import styles from './PasswordRules.module.css';
import { passwordRules } from './rules';

interface PasswordRulesProps {
  id: string;
  password: string;
  /** Whether to highlight unmet rules, because the form was submitted with them. */
  insist: boolean;
}

/** The rules of a password, updated while typing. Each change is announced with its rule. */
export function PasswordRules({ id, password, insist }: PasswordRulesProps) {
  return (
    <ul id={id} className={styles.rules} aria-live="polite" aria-relevant="text">
      {passwordRules.map(({ name, isMet }) => {
        const met = isMet(password);
        const className = met ? styles.met : insist ? styles.missing : undefined;
        return (
          <li key={name} lang="es" aria-atomic="true" className={className}>
            <Mark kind="level" size="small" faint={!met} />
            <span>{register.rules[name]}</span>
            <VisuallyHidden lang={language.tag}>
              {' '}
              {met ? messages.ruleMet : messages.ruleNotMet}
            </VisuallyHidden>
          </li>
        );
      })}
    </ul>
  );
}
