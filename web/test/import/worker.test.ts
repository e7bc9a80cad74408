// @vitest-environment node
/** The worker reads a file piece by piece and answers in chunks. */
import { expect, it, vi } from 'vitest';
import type { Message, Order } from '../../src/features/import/import.worker';

type Listener = (event: { data: Order }) => void;

async function run(order: Order): Promise<Message[]> {
  const messages: Message[] = [];
  let listener: Listener | undefined;
  vi.stubGlobal('addEventListener', (_type: string, given: Listener) => (listener = given));
  const ended = new Promise<void>((resolve) => {
    vi.stubGlobal('postMessage', (message: Message) => {
      messages.push(message);
      if (message.kind === 'end') resolve();
    });
  });
  // Node has no reportError. A rejection would fail the test.
  vi.stubGlobal('reportError', (error: Error) => Promise.reject(error));
  vi.resetModules();
  await import('../../src/features/import/import.worker');
  listener?.({ data: order });
  await ended;
  vi.unstubAllGlobals();
  return messages;
}

it('sends rows in chunks, progress, and a summary at the end', async () => {
  const line = (index: number) => `é-${index},https://example.org/${'x'.repeat(900)}/${index}\n`;
  const text = `Slug,URL\n${Array.from({ length: 2_500 }, (_, index) => line(index)).join('')}`;
  const file = new Blob([text]);
  const messages = await run({ file, options: { now: Date.UTC(2026, 0, 1) } });
  const chunks = messages.flatMap((message) => (message.kind === 'rows' ? [message.rows] : []));
  expect(chunks.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
  expect(chunks.flat().map(({ row }) => row)).toEqual(
    Array.from({ length: 2_500 }, (_, index) => index + 1),
  );
  expect(chunks.flat().every(({ code }, index) => code === `é-${index}`)).toBe(true);
  const progress = messages.filter(({ kind }) => kind === 'progress');
  expect(progress).toHaveLength(3);
  expect(progress.at(-1)).toEqual({ kind: 'progress', read: file.size, total: file.size });
  expect(messages.at(-1)).toMatchObject({ kind: 'end', summary: { source: 'csv', problems: [] } });
});

it('does not read a file of more than 50 MB', async () => {
  const file = { size: 50 * 1024 * 1024 + 1 } as Blob;
  const messages = await run({ file, options: { now: 0 } });
  expect(messages).toMatchObject([
    { kind: 'end', summary: { problems: [{ code: 'too-large', count: 1 }] } },
  ]);
});
