/** Texts of rows and sources that depend on several properties. */
import type { Verdict } from '../../api';
import {
  actions,
  cannotMove,
  causes,
  messages,
  sourceNames,
  stateNames,
  verdictCauses,
} from './messages';
import type { Row, Source } from './parsed';
import type { Action } from './plan';

/** Returns what an import cannot move. */
export function limitOf(source: Source): string {
  if (source === 'bookmarks') return cannotMove.bookmarks;
  return cannotMove.host(source === 'csv' ? cannotMove.otherHost : sourceNames[source]);
}

/** Returns what is wrong with a row, '' for nothing. */
export function causeOf(row: Row, verdict: Verdict): string {
  if (row.unreadable !== null) return causes[row.unreadable];
  if (verdict === 'not a code' && row.code === null) return messages.missingEnding;
  return verdictCauses[verdict];
}

/** Returns what happens to a row, and what to do about it. */
export function actionText(row: Row, verdict: Verdict, action: Action): string {
  if (action === 'import') return actions.import;
  if (action === 'import under a new ending') return actions.newEnding;
  if (verdict === 'exists' || verdict === 'duplicate') return actions.skipped;
  if (row.state !== null) return actions.skippedAs(stateNames[row.state]);
  if (verdict === 'refused') return actions.skipped;
  return actions.correct(row.place);
}
