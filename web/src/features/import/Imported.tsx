import { useState } from 'react';
import { Button } from '../../components/Button';
import type { ImportJob } from '../../lib/importJob';
import { save } from '../../lib/save';
import styles from './Importer.module.css';
import { messages } from './messages';
import { resultsFile, sumOf } from './run';
import { openStore } from './store';

interface ImportedProps {
  job: ImportJob;
  imported: number;
  onOther: () => void;
}

/** The result of an import. It can be undone in the list of imports below. */
export function Imported({ job, imported, onOther }: ImportedProps) {
  const [problem, setProblem] = useState('');
  const notImported = sumOf(job.sizes) - imported;

  const download = async () => {
    setProblem('');
    try {
      save(await resultsFile(await openStore(job), job), messages.resultsFile);
    } catch (error) {
      console.error(error);
      setProblem(messages.downloadFailed);
    }
  };

  return (
    <div className={styles.stack}>
      <h2>{messages.imported(imported)}</h2>
      {notImported > 0 && <p>{messages.notImported(notImported)}</p>}
      <div className={styles.buttons}>
        <Button variant="primary" onClick={() => void download()}>
          {messages.downloadResults}
        </Button>
        <Button onClick={onOther}>{messages.another}</Button>
      </div>
      {problem !== '' && <p role="alert">{problem}</p>}
    </div>
  );
}
