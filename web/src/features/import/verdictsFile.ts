/** CSV of the dry run: every row with its verdict and cause. */
import type { Verdict } from '../../api';
import { BOM, CSV_TYPE, csvLine } from '../../lib/csv';
import { messages, verdictNames } from './messages';
import type { Row } from './parsed';
import { actionOf, type Choices } from './plan';
import { actionText, causeOf } from './rowTexts';

/** Rows per piece, so that the text is never held as a whole. */
const PIECE = 5_000;

export function verdictsFile(
  rows: readonly Row[],
  verdicts: readonly Verdict[],
  choices: Choices,
): Blob {
  const parts: BlobPart[] = [BOM + csvLine(messages.checkColumns)];
  for (let from = 0; from < rows.length; from += PIECE) {
    const lines = rows.slice(from, from + PIECE).map((row, index) => {
      const verdict = verdicts[from + index] ?? 'unreadable';
      const action = actionText(row, verdict, actionOf(row, verdict, choices));
      const cause = causeOf(row, verdict);
      const name = verdictNames[verdict];
      return csvLine([row.place, row.code, row.destination, name, action, cause]);
    });
    parts.push(new Blob([lines.join('')]));
  }
  return new Blob(parts, { type: CSV_TYPE });
}
