/** The QR page in jsdom, which draws nothing: its image decoder, canvas and QR decoder are faked. */
import { screen } from '@testing-library/react';
import { afterEach, beforeEach, vi } from 'vitest';
import type { Message, Question } from '../src/features/qr/decoder.worker';
import type { Distortion } from '../src/features/qr/margin';
import { heading, visit } from './app';

export const PNG = new File(['x'], 'logo.png', { type: 'image/png' });

interface FakeDecoder {
  /** What the decoder reads; undefined if it does not load. */
  reads: ((side: number) => string | null) | undefined;
  /** The distortion in which the decoder loses the text. */
  loses: (() => Distortion | null) | undefined;
  /** Settles when the decoder has loaded or failed to load. */
  loads: Promise<void>;
  /** Whether the decoder does not respond. */
  hangs: boolean;
}

/** What the QR decoder does, which `fakeQrPage` resets before each test. */
export const decoder: FakeDecoder = {
  reads: undefined,
  loses: undefined,
  loads: Promise.resolve(),
  hangs: false,
};
/** How the browser decodes images. */
export const images = { decode: () => Promise.resolve() };
/** Names of the saved files. */
export const saved: string[] = [];
/** Workers that run. */
export const workers = new Set<FakeWorker>();

const fails = () => new Event('error', { cancelable: true });

export class FakeWorker extends EventTarget {
  constructor() {
    super();
    workers.add(this);
    void decoder.loads.then(() =>
      this.dispatchEvent(
        decoder.reads === undefined ? fails() : new MessageEvent('message', { data: 'ready' }),
      ),
    );
  }
  postMessage({ id, side }: Question) {
    const data = {
      id,
      text: decoder.reads?.(side) ?? null,
      lost: decoder.loses?.() ?? null,
    } satisfies Message;
    const answer = new MessageEvent('message', { data });
    if (!decoder.hangs) setTimeout(() => this.dispatchEvent(answer));
  }
  terminate() {
    workers.delete(this);
  }
}

/** Replaces what the QR page needs of a browser in each test of the calling file. */
export function fakeQrPage() {
  beforeEach(() => {
    images.decode = () => Promise.resolve();
    HTMLImageElement.prototype.decode = () => images.decode();
    saved.length = 0;
    Object.assign(decoder, {
      reads: undefined,
      loses: undefined,
      loads: Promise.resolve(),
      hangs: false,
    } satisfies FakeDecoder);
    vi.stubGlobal('Worker', FakeWorker);
    vi.stubGlobal('createImageBitmap', () => Promise.resolve({ close: vi.fn() }));
    vi.spyOn(console, 'warn').mockReturnValue();
    const pen = {
      scale: vi.fn(),
      setTransform: vi.fn(),
      fill: vi.fn(),
      fillRect: vi.fn(),
      drawImage: vi.fn(),
      canvas: { width: 1, height: 1 },
      getImageData: (_x: number, _y: number, width: number) => ({
        width,
        data: new Uint8ClampedArray(4).fill(255),
      }),
    } as unknown as CanvasRenderingContext2D;
    Object.assign(HTMLCanvasElement.prototype, { getContext: () => pen });
    vi.stubGlobal('Path2D', vi.fn());
    vi.spyOn(HTMLCanvasElement.prototype, 'toBlob').mockImplementation((give) => give(new Blob()));
    vi.spyOn(HTMLCanvasElement.prototype, 'toDataURL').mockReturnValue(
      'data:image/png;base64,eA==',
    );
    URL.createObjectURL = () => 'blob:here';
    URL.revokeObjectURL = () => undefined;
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (
      this: HTMLAnchorElement,
    ) {
      saved.push(this.download);
    });
  });

  afterEach(() => {
    // The next test loads a new decoder.
    for (const worker of workers) worker.dispatchEvent(fails());
    vi.unstubAllGlobals();
  });
}

/** Opens the QR page. */
export async function openQrPage(state: object | null = null) {
  const { user } = visit('/custom-qr-generator', state);
  await heading('CUSTOM QR CODE GENERATOR');
  return user;
}

export const url = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'URL' });
export const name = () => screen.getByRole('textbox', { name: 'Name' });
export const file = () => screen.getByLabelText<HTMLInputElement>('Center image');
export const code = () => screen.getByRole('img', { name: /^QR code/ });
export const download = () => screen.getByRole('button', { name: 'DOWNLOAD QR' });
export const picker = (label: string) =>
  screen.getByRole('button', { name: new RegExp(`^${label} `) });
