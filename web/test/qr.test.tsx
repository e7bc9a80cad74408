import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { renderToStaticMarkup } from 'react-dom/server';
import { QRCodeSVG } from 'qrcode.react';
import { createElement } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { brightness, colorFault, mendColors } from '../src/features/qr/colors';
import { loadDecoder, measurePicture, readPicture } from '../src/features/qr/decoder';
import type { Message, Question } from '../src/features/qr/decoder.worker';
import { fileName } from '../src/features/qr/download';
import type { Distortion } from '../src/features/qr/margin';
import { symbolFor, wellFormed } from '../src/features/qr/symbol';
import { expectNoAxeViolations, heading, visit } from './app';
import { serve } from './server';

const PNG = new File(['x'], 'logo.png', { type: 'image/png' });
let decode: () => Promise<void>;
let saved: string[];
/** What the decoder reads; undefined if it does not load. */
let reads: ((side: number) => string | null) | undefined;
/** The distortion in which the decoder loses the text. */
let loses: (() => Distortion | null) | undefined;
/** Settles when the decoder has loaded or failed to load. */
let loads: Promise<void>;
/** Whether the decoder does not respond. */
let hangs: boolean;
const fails = () => new Event('error', { cancelable: true });
const workers = new Set<FakeWorker>();

class FakeWorker extends EventTarget {
  constructor() {
    super();
    workers.add(this);
    void loads.then(() =>
      this.dispatchEvent(
        reads === undefined ? fails() : new MessageEvent('message', { data: 'ready' }),
      ),
    );
  }
  postMessage({ id, side }: Question) {
    const data = { id, text: reads?.(side) ?? null, lost: loses?.() ?? null } satisfies Message;
    const answer = new MessageEvent('message', { data });
    if (!hangs) setTimeout(() => this.dispatchEvent(answer));
  }
  terminate() {
    workers.delete(this);
  }
}

beforeEach(() => {
  decode = () => Promise.resolve();
  HTMLImageElement.prototype.decode = () => decode();
  saved = [];
  reads = undefined;
  loses = undefined;
  loads = Promise.resolve();
  hangs = false;
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
  vi.spyOn(HTMLCanvasElement.prototype, 'toDataURL').mockReturnValue('data:image/png;base64,eA==');
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

async function open(state: object | null = null) {
  const { user } = visit('/custom-qr-generator', state);
  await heading('CUSTOM QR CODE GENERATOR');
  return user;
}
/** A clipboard with an image and a text. */
const pasted = (text: string) => ({ clipboardData: { files: [PNG], getData: () => text } });
const url = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'URL' });
const name = () => screen.getByRole('textbox', { name: 'Name' });
const file = () => screen.getByLabelText<HTMLInputElement>('Center image');
const code = () => screen.getByRole('img', { name: /^QR code/ });
const download = () => screen.getByRole('button', { name: 'DOWNLOAD QR' });
const picker = (label: string) => screen.getByRole('button', { name: new RegExp(`^${label} `) });

describe('the QR generator', () => {
  it('shows its controls and three blocks, without a request', async () => {
    const calls = serve({});
    const user = await open();
    expect(screen.getByRole('link', { current: 'page' })).toHaveTextContent('QR CODE');
    expect(url().value).toBe('');
    expect(picker('Color')).toHaveTextContent('#000000');
    expect(picker('Background color')).toHaveTextContent('#ffffff');
    expect(
      within(screen.getByRole('list'))
        .getAllByRole('heading')
        .map((block) => block.textContent),
    ).toEqual(['CREATE QR CODE', 'CUSTOMIZE', 'SHARE IT']);
    await expectNoAxeViolations();
    await user.type(url(), 'https://example.org/');
    await waitFor(() => expect(code()).toHaveAccessibleName('QR code of https://example.org/'));
    expect(calls).toEqual([]);
  });

  it('is filled in when opened from a plate', async () => {
    await open({ url: 'https://atajo.example/k7Qm2_xB' });
    expect(url().value).toBe('https://atajo.example/k7Qm2_xB');
  });

  it('does not download without a text', async () => {
    const user = await open();
    await user.click(download());
    await screen.findByText('Please enter a link to start downloading...');
    expect(saved).toEqual([]);
  });

  it('downloads under the default name or a custom one', async () => {
    const user = await open();
    await user.type(url(), 'https://example.org/');
    await user.click(download());
    await user.type(name(), 'camino');
    await user.click(download());
    await waitFor(() => expect(saved).toEqual(['my-qr-code.png', 'camino.png']));
    await user.click(screen.getByRole('button', { name: 'SVG' }));
    await waitFor(() => expect(saved.at(-1)).toBe('camino.svg'));
  });

  it.each([0.67, 1, 1.1, 1.25, 1.5, 2, 3])(
    'draws 400 x 400 at a pixel ratio of %s',
    async (ratio) => {
      vi.stubGlobal('devicePixelRatio', ratio);
      await open({ url: 'x' });
      expect(code()).toHaveProperty('width', 400);
      expect(code()).toHaveProperty('height', 400);
    },
  );

  it('opens one picker at a time, whose button reads CLOSE', async () => {
    const user = await open();
    await user.click(picker('Color'));
    expect(picker('Color')).toHaveTextContent('CLOSE');
    expect(screen.getByRole('group', { name: 'Color' })).toBeInTheDocument();
    await expectNoAxeViolations();

    await user.click(picker('Background color'));
    expect(picker('Background color')).toHaveTextContent('CLOSE');
    expect(picker('Color')).toHaveTextContent('#000000');
    expect(screen.queryByRole('group', { name: 'Color' })).toBeNull();

    await user.click(picker('Background color'));
    expect(screen.queryByRole('group', { name: 'Background color' })).toBeNull();
  });

  it('closes a picker on Escape and on a click elsewhere', async () => {
    const user = await open();
    await user.click(picker('Color'));
    await user.keyboard('{Escape}');
    expect(picker('Color')).toHaveTextContent('#000000');
    expect(picker('Color')).toHaveFocus();
    await user.click(picker('Color'));
    await user.click(screen.getByRole('heading', { level: 1 }));
    expect(picker('Color')).toHaveTextContent('#000000');
  });

  it('closes a picker that the focus leaves, and stays open inside', async () => {
    const user = await open();
    await user.click(picker('Color'));
    const text = screen.getByRole('textbox', { name: 'Hex, rgb() or hsl()' });
    while (document.activeElement !== text) {
      await user.tab();
      expect(picker('Color')).toHaveTextContent('CLOSE');
    }
    await user.tab();
    expect(picker('Background color')).toHaveFocus();
    expect(picker('Color')).toHaveTextContent('#000000');

    await user.click(picker('Color'));
    await user.tab({ shift: true });
    expect(picker('Color')).toHaveTextContent('#000000');
  });

  it('draws no code without a text', async () => {
    const user = await open();
    const codes = () => screen.queryAllByRole('img', { name: /^QR code/ });
    const hint = 'Enter a link to create a QR code.';
    expect(codes()).toEqual([]);
    const place = document.querySelector('canvas');
    expect([place?.width, place?.height]).toEqual([400, 400]);
    screen.getByText(hint);
    await user.type(url(), '  ');
    expect(codes()).toEqual([]);
    await user.type(url(), 'x');
    await waitFor(() => expect(codes()).toHaveLength(1));
    expect(screen.queryByText(hint)).toBeNull();
    await user.clear(url());
    await screen.findByText(hint);
    expect(codes()).toEqual([]);
  });

  it.each([
    ['#146C43', '#146c43'],
    ['abc', '#aabbcc'],
    ['rgb(20, 108, 67)', '#146c43'],
    ['rgb(100% 0% 0%)', '#ff0000'],
    ['hsl(153 69% 25%)', '#146c44'],
    ['hsl(-90deg, 100%, 50%)', '#8000ff'],
  ])('accepts %s as a color', async (typed, hex) => {
    const user = await open();
    await user.click(picker('Color'));
    const text = screen.getByRole('textbox', { name: 'Hex, rgb() or hsl()' });
    await user.clear(text);
    await user.type(text, typed);
    expect(text).toHaveValue(typed);
    await user.keyboard('{Escape}');
    expect(picker('Color')).toHaveTextContent(hex);
  });

  it('keeps the color while the typed text is not one', async () => {
    const user = await open();
    await user.click(picker('Color'));
    const text = screen.getByRole('textbox', { name: 'Hex, rgb() or hsl()' });
    await user.clear(text);
    await user.type(text, 'rgb(1,');
    expect(text).toBeInvalid();
    await user.keyboard('{Escape}');
    expect(picker('Color')).toHaveTextContent('#000000');
  });

  it('loads, shows and removes a logo', async () => {
    let finish: () => void = () => undefined;
    decode = () => new Promise((resolve) => (finish = resolve));
    const user = await open();
    await user.upload(file(), PNG);
    await screen.findByText('Loading the image');
    await waitFor(() => {
      finish();
      expect(screen.getByAltText('Your logo...')).toBeInTheDocument();
    });
    expect(screen.getByAltText('Your logo...')).toHaveAttribute(
      'src',
      expect.stringMatching(/^data:image\/png/),
    );
    await expectNoAxeViolations();
    await user.click(screen.getByRole('button', { name: 'Remove image' }));
    expect(screen.queryByAltText('Your logo...')).toBeNull();
  });

  it.each([
    ['a text file', new File(['x'], 'a.txt', { type: 'text/plain' }), true],
    ['a broken image', PNG, false],
  ])('refuses %s', async (_name, chosen, decodes) => {
    vi.spyOn(console, 'error').mockReturnValue();
    decode = () => (decodes ? Promise.resolve() : Promise.reject(new Error('broken')));
    await open();
    fireEvent.change(file(), { target: { files: [chosen] } });
    await screen.findByText('Please choose a valid file type');
    await waitFor(() => expect(screen.queryByText('Loading the image')).toBeNull());
    expect(screen.queryByAltText('Your logo...')).toBeNull();
  });

  it('accepts a dropped and a pasted image', async () => {
    await open();
    const anywhere = screen.getByRole('contentinfo');
    const dataTransfer = { types: ['Files'], files: [PNG] };
    for (const move of [fireEvent.dragOver, fireEvent.drop]) {
      expect(move(anywhere, { dataTransfer }), 'the browser would open the file').toBe(false);
    }
    await screen.findByAltText('Your logo...');
    fireEvent.click(screen.getByRole('button', { name: 'Remove image' }));
    fireEvent.paste(document.body, pasted(''));
    await screen.findByAltText('Your logo...');
  });

  it('leaves dragged text to the browser', async () => {
    await open();
    const dataTransfer = { types: ['text/plain'], files: [] };
    expect(fireEvent.dragOver(url(), { dataTransfer })).toBe(true);
    expect(fireEvent.drop(url(), { dataTransfer })).toBe(true);
  });

  it('pastes text as text even if the clipboard also contains an image', async () => {
    await open();
    for (const field of [url(), name()]) {
      expect(fireEvent.paste(field, pasted('a cell')), 'text is pasted').toBe(true);
    }
    expect(screen.queryByText('Loading the image')).toBeNull();
    expect(screen.queryByAltText('Your logo...')).toBeNull();
    expect(fireEvent.paste(url(), pasted('')), 'there is no text to paste').toBe(false);
    await screen.findByAltText('Your logo...');
  });

  it('keeps the previous logo if the next one is broken', async () => {
    const user = await open();
    await user.upload(file(), PNG);
    await screen.findByAltText('Your logo...');
    decode = () => Promise.reject(new Error('broken'));
    await user.upload(file(), PNG);
    await screen.findByText('Please choose a valid file type');
    await screen.findByAltText('Your logo...');
  });

  it('says when the text is too long instead of drawing a code, and counts near the limit', async () => {
    await open({ url: 'x'.repeat(2953) });
    expect(code()).toBeInTheDocument();
    screen.getByText('2,953 of 2,953 bytes used');
    fireEvent.change(url(), { target: { value: 'x'.repeat(2954) } });
    screen.getByText('This text is too long for a QR code', { selector: 'p' });
    expect(screen.queryByRole('img', { name: /^QR code/ })).toBeNull();
    expect(url()).toBeInvalid();
    fireEvent.change(url(), { target: { value: '1'.repeat(7089) } });
    await waitFor(() => expect(code()).toBeInTheDocument());
    fireEvent.change(url(), { target: { value: 'x'.repeat(2954) } });
    fireEvent.change(file(), { target: { files: [PNG] } });
    fireEvent.change(url(), { target: { value: 'x'.repeat(1274) } });
    await screen.findByText('1,274 of 1,273 bytes used');
    fireEvent.click(screen.getByRole('button', { name: 'Remove the image' }));
    await waitFor(() => expect(code()).toBeInTheDocument());
  });

  it('draws half a character without failing', async () => {
    await open({ url: 'a\ud83d' });
    expect(code()).toBeInTheDocument();
  });

  it('accepts several lines', async () => {
    const user = await open();
    await user.type(url(), 'a{Enter}b');
    expect(url()).toHaveValue('a\nb');
  });
});

describe('the verdict', () => {
  const paint = async (user: Awaited<ReturnType<typeof open>>, label: string, color: string) => {
    await user.click(picker(label));
    const text = screen.getByRole('textbox', { name: 'Hex, rgb() or hsl()' });
    await user.clear(text);
    await user.type(text, `${color}{Escape}`);
  };
  const shown = (text: RegExp | string) =>
    waitFor(() => expect(screen.getAllByText(text).length).toBeGreaterThan(0));
  const mend = (name: string) => screen.getByRole('button', { name });

  it('is good if the exact text was read, and announced after a pause', async () => {
    reads = () => 'x';
    const user = await open({ url: 'x' });
    await shown('Scans well on white');
    await waitFor(() => expect(screen.getAllByText('Scans well on white')).toHaveLength(2));
    await expectNoAxeViolations();
    await user.click(download());
    await waitFor(() => expect(saved).toHaveLength(1));
    expect(screen.queryByText(/^Saved/)).toBeNull();
  });

  it('is limited to white surroundings while the code has no quiet zone', async () => {
    reads = () => 'x';
    const user = await open({ url: 'x' });
    await shown('Scans well on white');
    await user.click(screen.getByRole('switch', { name: /^Quiet zone/ }));
    await shown('Scans well');
    await user.click(screen.getByRole('switch', { name: /^Quiet zone/ }));
    await shown('Scans well on white');
    await paint(user, 'Background color', '#fffbe6');
    await shown('Scans well');
  });

  it('shows the scan distance of a print, and warns if a camera may fail', async () => {
    reads = () => 'x';
    loses = () => 'worn';
    await open({ url: 'x' });
    await shown('Hard to scan');
    await shown('Printed 50 mm wide, it scans from up to 62 cm away.');
    // No tried change makes it scan well.
    await waitFor(() => mend('Download as SVG to print it larger'));
    await expectNoAxeViolations();
  });

  it('suggests the first change that improves a trial code, and applies it on a click', async () => {
    reads = () => 'x';
    loses = () => 'noisy';
    const user = await open({ url: 'x' });
    await paint(user, 'Color', '#146c43');
    await waitFor(() => mend('Download as SVG to print it larger'));
    // Trial codes are drawn as SVGs; those of another color are read.
    let tried = '';
    class Drawn extends Blob {
      constructor(parts: BlobPart[], options?: BlobPropertyBag) {
        super(parts, options);
        if (typeof parts[0] === 'string') [tried] = parts;
      }
    }
    vi.stubGlobal('Blob', Drawn);
    loses = () => (tried === '' || tried.includes('#146c43') ? 'noisy' : null);
    await user.click(screen.getByRole('switch'));
    await waitFor(() => mend('Increase contrast'));
    loses = () => null;
    await user.click(mend('Increase contrast'));
    await shown('Scans well');
    expect(brightness(picker('Color').textContent.slice(-7))).toBeLessThan(56);
    expect(screen.queryByRole('button', { name: 'Increase contrast' })).toBeNull();
  });

  it('warns if another text was read, and still saves the file', async () => {
    reads = () => 'y';
    const user = await open({ url: 'x' });
    await paint(user, 'Color', '#146c43');
    await shown('The check could not read this code.');
    await user.click(download());
    await screen.findByText(/^Saved, but it may not scan: the check/);
    expect(saved).toHaveLength(1);
    await user.click(mend('Use black on white'));
    expect(picker('Color')).toHaveTextContent('#000000');
  });

  it('fixes colors that are too similar or inverted with one click', async () => {
    reads = () => 'x';
    const user = await open({ url: 'x' });
    await paint(user, 'Color', '#eeeeee');
    await shown(/too similar/);
    await user.click(mend('Fix the colors'));
    await shown('Scans well on white');
    await paint(user, 'Color', '#ffffff');
    await paint(user, 'Background color', '#000000');
    await shown(/light codes on a dark background/);
    await user.click(mend('Swap the colors'));
    expect(picker('Color')).toHaveTextContent('#000000');
    expect(picker('Background color')).toHaveTextContent('#ffffff');
    await shown('Scans well on white');
  });

  it('warns of a dense code, and saves it as an SVG', async () => {
    const dense = 'x'.repeat(1500);
    reads = () => dense;
    const user = await open({ url: dense });
    await shown(/the modules are too small/);
    await user.click(mend('Download as SVG to print it larger'));
    await waitFor(() => expect(saved).toEqual(['my-qr-code.svg']));
    expect(screen.queryByText(/^Saved, but/)).toBeNull();
  });

  it('says that nothing was checked if the decoder did not load, and retries', async () => {
    const user = await open({ url: 'x' });
    await shown('Not checked: the decoder did not load.');
    await user.click(download());
    await screen.findByText('Saved without a check: the decoder did not load');
    expect(saved).toHaveLength(1);
    reads = () => 'x';
    await user.click(mend('Try again'));
    await shown('Scans well on white');
  });

  it('is pending while the decoder loads slowly, and checks only the latest code', async () => {
    let arrive: () => void = () => undefined;
    loads = new Promise((resolve) => (arrive = resolve));
    const read = vi.fn(() => 'x');
    reads = read;
    const user = await open({ url: 'y' });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    await shown('Checking the code');
    act(() => void vi.advanceTimersByTime(60_000));
    await shown('Checking the code');
    expect(screen.queryByText(/^Not checked/)).toBeNull();

    fireEvent.click(download());
    await vi.advanceTimersByTimeAsync(6_000);
    await shown('Saved without a check: the decoder is still loading');
    expect(saved).toHaveLength(1);
    vi.useRealTimers();

    await user.clear(url());
    await user.type(url(), 'x');
    await waitFor(() => expect(code()).toHaveAccessibleName('QR code of x'));
    read.mockClear();
    arrive();
    await shown('Scans well on white');
    expect(read.mock.calls.length, 'the latest, and the saved file').toBeLessThanOrEqual(2);
  });

  it('warns of colors at once, without a decoder', async () => {
    loads = new Promise(() => undefined);
    const user = await open({ url: 'x' });
    await paint(user, 'Color', '#eeeeee');
    await shown(/too similar/);
  });
});

describe('a symbol', () => {
  const texts = [
    ...[1, 17, 18, 106, 230, 231, 271, 500, 858, 1367, 1465, 1466, 2500, 2953].map((n) =>
      'x'.repeat(n),
    ),
    ...[1, 41, 552, 553, 2283, 7089].map((n) => '7'.repeat(n)),
    ...[1, 25, 335, 336, 4296].map((n) => 'A'.repeat(n)),
    '',
  ];
  it.each(texts.flatMap((text) => [[text, false] as const, [text, true] as const]))(
    'has the size that the library computes: %#',
    (text, hasLogo) => {
      const { level, leastVersion, modules } = symbolFor(text, hasLogo);
      const draw = () =>
        renderToStaticMarkup(
          createElement(QRCodeSVG, { value: text, level, minVersion: leastVersion }),
        );
      if (modules === null) expect(draw).toThrow();
      else expect(draw()).toContain(`viewBox="0 0 ${modules} ${modules}"`);
    },
  );

  it('contains no half characters', () => expect(wellFormed('a\ud83d')).toBe('a\ufffd'));
});

describe('colors', () => {
  it('are checked and fixed by their measured distance', () => {
    const some = ['#000000', '#ffffff', '#ff0000', '#00ff00', '#0000ff', '#ffff00', '#777777'];
    for (const foreground of some) {
      for (const background of some) {
        const mended = mendColors({ foreground, background });
        expect(colorFault(mended)).toBeNull();
        expect(brightness(mended.background)).toBeGreaterThan(brightness(mended.foreground));
      }
    }
    expect(colorFault({ foreground: '#000000', background: '#ff0000' })).toBe('close');
    expect(colorFault({ foreground: '#ffffff', background: '#000000' })).toBe('inverted');
  });
});

describe('a file name', () => {
  it.each([
    ['', 'my-qr-code.png'],
    ['  ', 'my-qr-code.png'],
    ['año nuevo', 'año nuevo.png'],
    ['camino.png', 'camino.png'],
    ['a/b\\c:d*e?"<f>|', 'a-b-c-d-e-f-.png'],
    ['../../etc', '-..-etc.png'],
    ['CON', 'CON-.png'],
    ['con.x', 'con-.x.png'],
    ['comino', 'comino.png'],
    ['.hidden', 'hidden.png'],
    ['a\u202egnp.exe', 'agnp.exe.png'],
    ['tab\tnew\nline', 'tabnewline.png'],
    ['???', 'my-qr-code.png'],
    ['短いリンク 👩‍🚀', '短いリンク 👩‍🚀.png'],
    ['end. . ', 'end.png'],
  ])('of %j is safe', (given, name) => expect(fileName(given, '.png')).toBe(name));

  it('is cut between characters', () => {
    const name = fileName('👩‍🚀'.repeat(60), '.svg');
    expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(204);
    expect(name).toMatch(/🚀\.svg$/u);
  });
});

describe('the decoder', () => {
  const picture = () => ({ width: 1, data: new Uint8ClampedArray(4) }) as unknown as ImageData;

  it('is terminated if it does not respond, and replaced by a new one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    reads = () => 'read';
    hangs = true;
    const first = await loadDecoder();
    const asked = readPicture(first, picture());
    const refused = expect(asked).rejects.toThrow('did not answer');
    vi.advanceTimersByTime(6_000);
    await refused;
    expect(workers).not.toContain(first);
    hangs = false;
    const second = await loadDecoder();
    expect(second).not.toBe(first);
    const read = readPicture(second, picture());
    vi.advanceTimersByTime(6_000);
    expect(await read).toBe('read');
    expect(workers).toContain(second);
  });

  it('measures only the newest image, and still reads saved ones', async () => {
    reads = () => 'read';
    hangs = true;
    const decoder = await loadDecoder();
    const older = measurePicture(decoder, picture());
    hangs = false;
    const file = readPicture(decoder, picture());
    const newer = measurePicture(decoder, picture());
    expect(await older).toBeNull();
    expect(await newer).toMatchObject({ text: 'read', lost: null });
    expect(await file).toBe('read');
  });

  it('is created again if the browser failed to create one', async () => {
    const refuse = () => {
      throw new DOMException('no', 'SecurityError');
    };
    vi.stubGlobal('Worker', refuse);
    await expect(loadDecoder()).rejects.toThrow();
    vi.stubGlobal('Worker', FakeWorker);
    reads = () => 'read';
    expect(await loadDecoder()).toBeInstanceOf(FakeWorker);
  });
});
