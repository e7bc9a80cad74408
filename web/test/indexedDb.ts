/** A stand-in for IndexedDB, which jsdom lacks: as much of it as the store of imports uses. */
export function fakeIndexedDb() {
  const tables = new Map<string, Map<number, unknown>>();
  const fake = {
    /** Whether databases cannot be opened now. */
    fails: false,
    open: () => {
      const request = requestOf(() => {
        if (fake.fails) throw new Error('The database cannot be opened');
        request.result = database;
        if (tables.size === 0) request.onupgradeneeded();
        return database;
      });
      return request;
    },
    deleteDatabase: () => tables.clear(),
  };
  const database = {
    createObjectStore: (name: string) => tables.set(name, new Map()),
    transaction: () => ({ objectStore: (name: string) => storeOf(tables.get(name)) }),
  };
  return fake;
}

function storeOf(table = new Map<number, unknown>()) {
  return {
    put: (value: unknown, key: number) => requestOf(() => void table.set(key, value)),
    get: (key: number) => requestOf(() => table.get(key)),
    getAllKeys: () => requestOf(() => [...table.keys()]),
    clear: () => requestOf(() => table.clear()),
  };
}

function requestOf(work: () => unknown) {
  const request = {
    result: undefined as unknown,
    error: null as unknown,
    onupgradeneeded: (): void => undefined,
    onsuccess: (): void => undefined,
    onerror: (): void => undefined,
  };
  queueMicrotask(() => {
    try {
      request.result = work();
      request.onsuccess();
    } catch (error) {
      request.error = error;
      request.onerror();
    }
  });
  return request;
}
