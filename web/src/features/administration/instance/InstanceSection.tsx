import type { ReactNode } from 'react';
import { showInstance, type Instance } from '../../../api/administration';
import { Button } from '../../../components/Button';
import { Loaded } from '../../../components/LoadedList';
import { TextButton } from '../../../components/TextButton';
import { formatInstant, formatNumber } from '../../../lib/format';
import admin from '../Administration.module.css';
import { useRead } from '../administrator';
import { instance as texts } from '../messages';
import { useSection } from '../sections';
import styles from './InstanceSection.module.css';

const MEGABYTE = 1_000_000;

/** The state of the instance: its version, what it holds, and its processes. */
export function InstanceSection() {
  const query = useRead('showInstance', [], showInstance);
  return (
    <Loaded query={query} texts={texts}>
      {(instance) => (
        <>
          <Figures instance={instance} />
          <Processes instance={instance} />
          <div>
            <Button busy={query.isFetching} onClick={() => void query.refetch()}>
              {texts.refresh}
            </Button>
          </div>
        </>
      )}
    </Loaded>
  );
}

function Figures({ instance }: { instance: Instance }) {
  const { open } = useSection();
  const shown = (value: number | null) => (value === null ? texts.unknown : formatNumber(value));
  const { storage_bytes: bytes, backup_at: backup } = instance;
  return (
    <dl className={styles.figures}>
      <Figure name={texts.links}>
        <TextButton onClick={() => open('links')}>{shown(instance.links)}</TextButton>
      </Figure>
      <Figure name={texts.accounts}>
        <TextButton onClick={() => open('accounts')}>{shown(instance.accounts)}</TextButton>
      </Figure>
      <Figure name={texts.today}>{shown(instance.visits.today)}</Figure>
      <Figure name={texts.yesterday}>{shown(instance.visits.yesterday)}</Figure>
      <Figure name={texts.storage}>
        {bytes === null ? texts.unknown : texts.megabytes(Math.ceil(bytes / MEGABYTE))}
      </Figure>
      <Figure small name={texts.backup}>
        {backup === null ? texts.noBackup : formatInstant(backup)}
      </Figure>
      <Figure small name={texts.version}>
        {instance.version}
      </Figure>
    </dl>
  );
}

interface FigureProps {
  name: string;
  /** Whether it is a text, not a number. */
  small?: boolean;
  children: ReactNode;
}

function Figure({ name, small = false, children }: FigureProps) {
  return (
    <div className={styles.figure}>
      <dt>{name}</dt>
      <dd className={small ? styles.small : undefined}>{children}</dd>
    </div>
  );
}

function Processes({ instance }: { instance: Instance }) {
  return (
    <div className={admin.stack}>
      <h2>{texts.processes}</h2>
      <ul className={styles.processes}>
        {instance.processes.map(({ name, ready }) => (
          <li key={name}>
            <span translate="no">{name}</span>{' '}
            <strong className={ready ? undefined : styles.away}>
              {ready ? texts.ready : texts.notReady}
            </strong>
          </li>
        ))}
      </ul>
    </div>
  );
}
