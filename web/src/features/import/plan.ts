/** Decides which rows are imported, and under which ending. */
import type { ImportedRow, Verdict } from '../../api';
import { newCode } from '../../lib/newCode';
import { importedRow } from './batches';
import type { Row, SourceState } from './parsed';

export interface Choices {
  /** Whether rows whose ending cannot be used get a new one. */
  newCodes: boolean;
  /** States at the source whose links are imported, too. */
  states: ReadonlySet<SourceState>;
}

export type Action = 'import' | 'import under a new ending' | 'skip';

export function actionOf(row: Row, verdict: Verdict, { newCodes, states }: Choices): Action {
  if (row.state !== null && !states.has(row.state)) return 'skip';
  switch (verdict) {
    case 'new':
      return 'import';
    case 'taken':
    case 'reserved':
    case 'not a code':
      return newCodes ? 'import under a new ending' : 'skip';
    default:
      return 'skip';
  }
}

/** A row to import, with the short URL or ending at its source. */
export interface PlannedRow extends ImportedRow {
  old: string;
}

/** Yields the rows to import in their order. */
export function* planned(
  rows: readonly Row[],
  verdicts: readonly Verdict[],
  choices: Choices,
): Generator<PlannedRow> {
  for (const [index, row] of rows.entries()) {
    const action = actionOf(row, verdicts[index] ?? 'unreadable', choices);
    if (action === 'skip') continue;
    const code = action === 'import' && row.code !== null ? row.code : newCode();
    yield { ...importedRow(row, code), old: row.short_url ?? row.code ?? '' };
  }
}
