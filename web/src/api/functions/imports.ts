/** Calls about imports of links. */
import * as v from 'valibot';
import type { Account } from '../../lib/owner';
import { succeed, type CallOptions } from '../client';
import { OWNER_OUTCOMES, LINK_OUTCOMES, moment } from './shared';

const verdict = v.picklist([
  'new',
  'exists',
  'taken',
  'reserved',
  'not a code',
  'refused',
  'not http',
  'duplicate',
  'unreadable',
]);

/** Verdict of an import on a row. Only `new` creates a link. */
export type Verdict = v.InferOutput<typeof verdict>;

/** A link to check; `row` identifies it within its import. */
export interface CheckedRow {
  row: number;
  code: string | null;
  url: string;
}

export interface ImportedRow extends CheckedRow {
  title: string;
  tags: string[];
  created_at: string | null;
  expires_at: string | null;
  domain?: string;
}

/** Returns the verdicts of an import on rows, without writing anything. */
export async function checkImport(
  { token }: Account,
  rows: readonly CheckedRow[],
  options: CallOptions = {},
): Promise<{ row: number; verdict: Verdict }[]> {
  const entries = { verdicts: v.array(v.object({ row: v.number(), verdict })) };
  const payload = { token, rows };
  return (await succeed('checkImport', payload, entries, OWNER_OUTCOMES, options)).data.verdicts;
}

const importResult = v.object({ row: v.number(), verdict, code: v.nullable(v.string()) });

/** `code` is the code of the account's link to the destination, null if there is none. */
export type ImportResult = v.InferOutput<typeof importResult>;

/** Imports rows. A row that was sent before returns the same result again. */
export async function importLinks(
  { token }: Account,
  importId: string,
  rows: readonly ImportedRow[],
  options: CallOptions = {},
): Promise<ImportResult[]> {
  const entries = { results: v.array(importResult) };
  const payload = { token, import_id: importId, rows };
  return (await succeed('importLinks', payload, entries, OWNER_OUTCOMES, options)).data.results;
}

/** Removes the unchanged links of an import; returns how many it has removed so far. */
export async function undoImport({ token }: Account, importId: string): Promise<number> {
  const payload = { token, import_id: importId };
  return (await succeed('undoImport', payload, { removed: v.number() }, LINK_OUTCOMES)).data
    .removed;
}

const pastImport = v.object({
  import_id: v.string(),
  started_at: moment,
  links: v.number(),
  removed: v.number(),
});

/**
 * An import of the last 30 days, with the number of links it created and of those that undoing
 * removed.
 */
export type PastImport = v.InferOutput<typeof pastImport>;

/** Returns the imports that can be undone, newest first. */
export async function listImports(
  { token }: Account,
  options: CallOptions = {},
): Promise<PastImport[]> {
  const entries = { imports: v.array(pastImport) };
  return (await succeed('listImports', { token }, entries, OWNER_OUTCOMES, options)).data.imports;
}
