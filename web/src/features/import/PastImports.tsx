import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { failureCode, type PastImport } from '../../api';
import { cache } from '../../api/cache';
import { endRefusedSession } from '../../api/endRefusedSession';
import { listImports, undoImport } from '../../api/imports';
import { keys } from '../../api/keys';
import { Button } from '../../components/Button';
import { Dialog, DialogActions } from '../../components/Dialog';
import { Loaded } from '../../components/LoadedList';
import { actions } from '../../components/messages';
import { announce } from '../../lib/announce';
import { formatInstant } from '../../lib/format';
import type { Account } from '../../lib/owner';
import styles from './Importer.module.css';
import { past } from './messages';

const MAX_UNDO_CALLS = 3;

/**
 * Undoes an import; returns how many links were removed. A call ends after a minute, which a large
 * import may exceed; the next call continues.
 */
async function undoAll(account: Account, importId: string): Promise<number> {
  for (let call = 1; ; call += 1) {
    try {
      return await undoImport(account, importId);
    } catch (error) {
      if (call === MAX_UNDO_CALLS || failureCode(error) !== 'failed') throw error;
    }
  }
}

/** The imports of the last 30 days, each of which can be undone. */
export function PastImports({ account }: { account: Account }) {
  const query = useQuery(
    {
      queryKey: keys.imports(account),
      queryFn: ({ signal }) => listImports(account, { signal }),
    },
    cache,
  );
  const [importToUndo, setImportToUndo] = useState<PastImport | null>(null);
  const [undoing, setUndoing] = useState<string | null>(null);
  const [said, setSaid] = useState('');

  const undo = async ({ import_id }: PastImport) => {
    setImportToUndo(null);
    setUndoing(import_id);
    setSaid('');
    try {
      const text = past.undone(await undoAll(account, import_id));
      setSaid(text);
      announce(text);
      await cache.invalidateQueries({ queryKey: keys.all(account) });
    } catch (error) {
      if (endRefusedSession(account, error)) return;
      const code = failureCode(error);
      if (code !== 'no-exist') console.error(error);
      const text = code === 'no-exist' ? past.gone : past.failed;
      setSaid(text);
      announce(text);
    } finally {
      setUndoing(null);
    }
  };

  if (query.data?.length === 0 && said === '') return null;
  return (
    <section className={styles.stack} aria-labelledby="past-imports">
      <h2 id="past-imports">{past.heading}</h2>
      <p className={styles.quiet}>{past.hint}</p>
      <Loaded query={query} texts={past}>
        {(pastImports) => (
          <ul className={styles.past}>
            {pastImports.map((pastImport) => (
              <li key={pastImport.import_id}>
                <span>
                  {past.item(formatInstant(pastImport.started_at), pastImport.links)}
                  {pastImport.removed > 0 && `, ${past.removed(pastImport.removed)}`}
                </span>
                {pastImport.removed < pastImport.links && (
                  <Button
                    busy={undoing === pastImport.import_id}
                    aria-label={past.undoOf(formatInstant(pastImport.started_at))}
                    onClick={() => setImportToUndo(pastImport)}
                  >
                    {past.undo}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {said !== '' && <p>{said}</p>}
      {importToUndo && (
        <Dialog title={past.question} onClose={() => setImportToUndo(null)}>
          <p>{past.warning(importToUndo.links - importToUndo.removed)}</p>
          <DialogActions>
            <Button variant="primary" onClick={() => void undo(importToUndo)}>
              {past.undo}
            </Button>
            <Button onClick={() => setImportToUndo(null)}>{actions.cancel}</Button>
          </DialogActions>
        </Dialog>
      )}
    </section>
  );
}
