/** Worker that writes the files of 'Download everything' into a ZIP. */
import { downloadZip } from 'client-zip';
import type { ExportedLink } from './exported';
import { Kit } from './kit';

/**
 * Messages to the worker: first the origin of the short URLs, then pages of links, then the end.
 */
export type Order =
  { kind: 'begin'; origin: string } | { kind: 'links'; links: ExportedLink[] } | { kind: 'end' };

export type Message =
  { kind: 'progress'; done: number; total: number } | { kind: 'file'; file: Blob };

/** Number of files between two progress messages. */
const STEP = 500;

let kit: Kit | undefined;

const tell = (message: Message) => postMessage(message);

async function makeZip(made: Kit): Promise<Blob> {
  const lastModified = new Date();
  const total = made.fileCount;
  function* files() {
    let done = 0;
    for (const file of made.files()) {
      yield { ...file, lastModified };
      done += 1;
      if (done % STEP === 0) tell({ kind: 'progress', done, total });
    }
  }
  return downloadZip(files()).blob();
}

addEventListener('message', ({ data }: MessageEvent<Order>) => {
  if (data.kind === 'begin') kit = new Kit(data.origin);
  else if (data.kind === 'links') kit?.add(data.links);
  // The page receives the error as an error event of the worker.
  else if (kit) makeZip(kit).then((file) => tell({ kind: 'file', file }), reportError);
});
