import { useCallback, useMemo, useRef, useState, type ComponentType } from 'react';
import { Link } from 'react-router-dom';
import { failureCode } from '../../api';
import type { Account } from '../../lib/owner';
import { AccountsSection } from './accounts/AccountsSection';
import styles from './Administration.module.css';
import { AdministratorContext, type Section, type WarningsPart } from './administrator';
import { DecisionsSection } from './decisions/DecisionsSection';
import { InstanceSection } from './instance/InstanceSection';
import { LinksSection } from './linkSearch/LinksSection';
import { messages } from './messages';
import { ReportsSection } from './reports/ReportsSection';
import { names, toSection, useSection, type SectionName } from './sections';

const sections: Record<SectionName, Section> = {
  reports: ReportsSection,
  links: LinksSection,
  accounts: AccountsSection,
  decisions: DecisionsSection,
  instance: InstanceSection,
};

interface AdministrationProps {
  account: Account;
  /** Asks for the password of a session that was confirmed too long ago. */
  Confirm: ComponentType<{ account: Account; onConfirmed: () => void; onClose: () => void }>;
  Warnings: WarningsPart;
  /** The account is no administrator, or no longer one. */
  onRefused: () => void;
}

/** The tool of administrators: its sections, and the dialog that confirms the session. */
export function Administration({ account, Confirm, Warnings, onRefused }: AdministrationProps) {
  const { section, query } = useSection();
  const { asking, answer, confirm } = useConfirmation();
  const Shown = sections[section];

  const run = useCallback(
    async <T,>(call: () => Promise<T>): Promise<T> => {
      try {
        return await call();
      } catch (error) {
        const code = failureCode(error);
        if (code === 'not-allowed') onRefused();
        if (code !== 'confirm' || !(await confirm())) throw error;
        return call();
      }
    },
    [confirm, onRefused],
  );
  const administrator = useMemo(() => ({ account, run, Warnings }), [account, run, Warnings]);

  return (
    <AdministratorContext value={administrator}>
      <div className={styles.tool}>
        <div className={styles.top}>
          <h1 className={styles.title}>{messages.title}</h1>
          <nav aria-label={messages.sections} className={styles.tabs}>
            {names.map((name) => (
              <Link
                key={name}
                to={toSection(name)}
                aria-current={name === section ? 'page' : undefined}
              >
                {messages.names[name]}
              </Link>
            ))}
          </nav>
        </div>
        <section aria-label={messages.names[section]} className={styles.section}>
          <Shown key={`${section} ${query}`} query={query} />
        </section>
      </div>
      {asking && (
        <Confirm account={account} onConfirmed={() => answer(true)} onClose={() => answer(false)} />
      )}
    </AdministratorContext>
  );
}

/** One question at a time: all calls that wait for it get its answer. */
function useConfirmation() {
  const [asking, setAsking] = useState(false);
  const waiting = useRef<((isConfirmed: boolean) => void)[]>([]);

  const confirm = useCallback(
    () =>
      new Promise<boolean>((resolve) => {
        waiting.current.push(resolve);
        setAsking(true);
      }),
    [],
  );
  const answer = (isConfirmed: boolean) => {
    setAsking(false);
    for (const resolve of waiting.current.splice(0)) resolve(isConfirmed);
  };

  return { asking, answer, confirm };
}
