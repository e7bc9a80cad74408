/** Creates the files that an account can download. */
import type { Link } from '../../api';
import { publicUrl } from '../../lib/config';
import type { Account } from '../../lib/owner';
import { collect, collectHistories, type Progress } from './collect';
import { linksWriters, type Format } from './files/links';
import { startKit } from './worker';

type OnProgress = (progress: Progress) => void;

/**
 * Creates a file of all links, with a blob for each page. Browsers store blobs outside of the
 * page's memory.
 */
export async function downloadLinks(
  account: Account,
  format: Format,
  signal: AbortSignal,
  onProgress: OnProgress,
): Promise<Blob> {
  const { type, head, line, foot } = linksWriters[format];
  const parts: BlobPart[] = [head];
  let isFirst = true;
  const write = (links: Link[]) => {
    const lines = links.map((link, index) =>
      line({ ...link, history: [] }, isFirst && index === 0),
    );
    parts.push(new Blob([lines.join('')]));
    isFirst &&= links.length === 0;
  };
  await collect(account, signal, write, onProgress);
  return new Blob([...parts, foot], { type });
}

/**
 * Creates the ZIP of 'Download everything'. `onProgress` counts links read, `onWritten` files
 * written.
 */
export async function downloadEverything(
  account: Account,
  signal: AbortSignal,
  onProgress: OnProgress,
  onWritten: OnProgress,
): Promise<Blob> {
  const stop = new AbortController();
  const kit = startKit(publicUrl(), AbortSignal.any([signal, stop.signal]));
  try {
    const write = async (links: Link[]) => {
      const histories = await collectHistories(account, links, signal);
      kit.add(links.map((link) => ({ ...link, history: histories.get(link.code) ?? [] })));
    };
    await collect(account, signal, write, onProgress);
    return await kit.end((read, total) => onWritten({ read, total }));
  } finally {
    stop.abort();
  }
}
