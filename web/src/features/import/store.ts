/** Stores the rows of an import and their results by call, in IndexedDB if available. */
import type { Verdict } from '../../api';
import { IMPORT_DATABASE, type ImportJob } from '../../lib/importJob';
import type { PlannedRow } from './plan';

/** The result of one row, for the table of old and new short URLs. */
export interface StoredResult {
  old: string;
  url: string;
  verdict: Verdict;
  /** Null if there is no link. */
  code: string | null;
}

type Table = 'rows' | 'results';
interface Tables {
  rows: PlannedRow[];
  results: StoredResult[];
}

export interface ImportStore {
  /** Whether the data persists after the page is closed. */
  isLasting: boolean;
  put: <T extends Table>(table: T, call: number, value: Tables[T]) => Promise<void>;
  get: <T extends Table>(table: T, call: number) => Promise<Tables[T] | undefined>;
  /** Returns the calls that have a value. */
  keys: (table: Table) => Promise<number[]>;
  clear: () => Promise<void>;
}

const TABLES: readonly Table[] = ['rows', 'results'];

/** Opens the store of a new import: in memory if the browser has no other. */
export async function createStore(id: string): Promise<ImportStore> {
  if (!hasDatabase()) return memoryStore(id);
  try {
    return databaseStore(await openDatabase());
  } catch (error) {
    console.warn('The import is stored in memory only', error);
    return memoryStore(id);
  }
}

/**
 * Opens the store of an import that was prepared. Rejects if the browser fails to open it now: its
 * rows are still there.
 */
export async function openStore({ id, isLasting }: ImportJob): Promise<ImportStore> {
  return isLasting && hasDatabase() ? databaseStore(await openDatabase()) : memoryStore(id);
}

function hasDatabase(): boolean {
  return 'indexedDB' in globalThis;
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(IMPORT_DATABASE, 1);
  request.onupgradeneeded = () => {
    for (const table of TABLES) request.result.createObjectStore(table);
  };
  return answerOf(request);
}

function databaseStore(database: IDBDatabase): ImportStore {
  // Close the database when another tab deletes it on logging out.
  database.onversionchange = () => database.close();
  const table = (name: Table, mode: IDBTransactionMode) =>
    database.transaction(name, mode).objectStore(name);
  return {
    isLasting: true,
    put: async (name, call, value) => {
      await answerOf(table(name, 'readwrite').put(value, call));
    },
    get: (name, call) => answerOf(table(name, 'readonly').get(call)),
    keys: async (name) => (await answerOf(table(name, 'readonly').getAllKeys())).map(Number),
    clear: async () => {
      for (const name of TABLES) await answerOf(table(name, 'readwrite').clear());
    },
  };
}

/** Data of this page, of its last import. */
const memory = {
  id: '',
  rows: new Map<number, PlannedRow[]>(),
  results: new Map<number, StoredResult[]>(),
};

function memoryStore(id: string): ImportStore {
  const tables: { [T in Table]: Map<number, Tables[T]> } = memory;
  const clear = () => {
    for (const name of TABLES) tables[name].clear();
  };
  if (memory.id !== id) clear();
  memory.id = id;
  return {
    isLasting: false,
    put: (name, call, value) => {
      tables[name].set(call, value);
      return Promise.resolve();
    },
    get: (name, call) => Promise.resolve(tables[name].get(call)),
    keys: (name) => Promise.resolve([...tables[name].keys()]),
    clear: () => {
      clear();
      return Promise.resolve();
    },
  };
}

function answerOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('The request failed'));
  });
}
