import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { expectNoAxeViolations, heading, visit } from './app';
import { serve } from './server';

const PNG = new File(['x'], 'logo.png', { type: 'image/png' });
let decode: () => Promise<void>;
let saved: { name: string; canvas: HTMLCanvasElement }[];

beforeEach(() => {
  decode = () => Promise.resolve();
  HTMLImageElement.prototype.decode = () => decode();
  saved = [];
  let drawn: HTMLCanvasElement;
  vi.spyOn(HTMLCanvasElement.prototype, 'toBlob').mockImplementation(function (
    this: HTMLCanvasElement,
    give,
  ) {
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- the canvas that was asked
    drawn = this;
    give(new Blob());
  });
  URL.createObjectURL = () => 'blob:here';
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (
    this: HTMLAnchorElement,
  ) {
    saved.push({ name: this.download, canvas: drawn });
  });
});

async function open(state: object | null = null) {
  const { user } = visit('/custom-qr-generator', state);
  await heading('CUSTOM QR CODE GENERATOR');
  return user;
}
const url = () => screen.getByRole<HTMLInputElement>('textbox', { name: 'URL' });
const name = () => screen.getByRole('textbox', { name: 'Name' });
const file = () => screen.getByLabelText<HTMLInputElement>('Center image');
const code = () => screen.getByRole('img', { name: /^QR code/ });
const download = () => screen.getByRole('button', { name: 'DOWNLOAD QR' });
const picker = (label: string) => screen.getByRole('button', { name: new RegExp(`^${label} `) });

describe('the QR generator', () => {
  it('has its controls and three blocks, and calls nobody', async () => {
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
    expect(code()).toHaveAccessibleName('QR code of https://example.org/');
    expect(calls).toEqual([]);
  });

  it('is filled in when one comes from a plate', async () => {
    await open({ url: 'https://atajo.example/k7Qm2_xB' });
    expect(url().value).toBe('https://atajo.example/k7Qm2_xB');
  });

  it('refuses to download nothing', async () => {
    const user = await open();
    await user.click(download());
    await screen.findByText('Please enter a link to start downloading...');
    expect(saved).toEqual([]);
  });

  it('downloads under its own name or a given one', async () => {
    const user = await open();
    await user.type(url(), 'https://example.org/');
    await user.click(download());
    await user.type(name(), 'camino');
    await user.click(download());
    expect(saved.map((one) => one.name)).toEqual(['my-qr-code.png', 'camino.png']);
    expect(saved[0]?.canvas).toBe(code());
  });

  it.each([0.67, 1, 1.1, 1.25, 1.5, 2, 3])('draws 400 x 400 at a ratio of %s', async (ratio) => {
    vi.stubGlobal('devicePixelRatio', ratio);
    const pen = { scale: vi.fn(), fillRect: vi.fn() } as unknown as CanvasRenderingContext2D;
    Object.assign(HTMLCanvasElement.prototype, { getContext: () => pen });
    await open({ url: 'x' });
    expect(code()).toHaveProperty('width', 400);
    expect(code()).toHaveProperty('height', 400);
    vi.unstubAllGlobals();
  });

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

  it.each([
    ['#146C43', '#146c43'],
    ['abc', '#aabbcc'],
    ['rgb(20, 108, 67)', '#146c43'],
    ['rgb(100% 0% 0%)', '#ff0000'],
    ['hsl(153 69% 25%)', '#146c44'],
    ['hsl(-90deg, 100%, 50%)', '#8000ff'],
  ])('takes %s for a colour', async (typed, hex) => {
    const user = await open();
    await user.click(picker('Color'));
    const text = screen.getByRole('textbox', { name: 'Hex, rgb() or hsl()' });
    await user.clear(text);
    await user.type(text, typed);
    expect(text).toHaveValue(typed);
    await user.keyboard('{Escape}');
    expect(picker('Color')).toHaveTextContent(hex);
  });

  it('keeps the colour while what is typed is none', async () => {
    const user = await open();
    await user.click(picker('Color'));
    const text = screen.getByRole('textbox', { name: 'Hex, rgb() or hsl()' });
    await user.clear(text);
    await user.type(text, 'rgb(1,');
    expect(text).toBeInvalid();
    await user.keyboard('{Escape}');
    expect(picker('Color')).toHaveTextContent('#000000');
  });

  it('loads a logo, shows it and lets go of it', async () => {
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

  it('takes a dropped and a pasted image', async () => {
    await open();
    fireEvent.drop(file(), { dataTransfer: { files: [PNG] } });
    await screen.findByAltText('Your logo...');
    fireEvent.click(screen.getByRole('button', { name: 'Remove image' }));
    fireEvent.paste(document.body, { clipboardData: { files: [PNG] } });
    await screen.findByAltText('Your logo...');
  });

  it('says when the text is too long, in place of the code', async () => {
    await open({ url: 'x'.repeat(2953) });
    expect(code()).toBeInTheDocument();
    fireEvent.change(url(), { target: { value: 'x'.repeat(2954) } });
    expect(screen.getByText('This text is too long for a QR code')).toBeInTheDocument();
    expect(screen.queryByRole('img', { name: /^QR code/ })).toBeNull();
    fireEvent.change(url(), { target: { value: '1'.repeat(7089) } });
    expect(code()).toBeInTheDocument();
  });

  it('draws half a character rather than breaking', async () => {
    await open({ url: 'a\ud83d' });
    expect(code()).toBeInTheDocument();
  });

  it('advises on colours that cameras do not read', async () => {
    const user = await open({ url: 'x' });
    const paint = async (label: string, colour: string) => {
      await user.click(picker(label));
      const text = screen.getByRole('textbox', { name: 'Hex, rgb() or hsl()' });
      await user.clear(text);
      await user.type(text, `${colour}{Escape}`);
    };
    await paint('Color', '#eeeeee');
    screen.getByText(/close to each other/);
    await paint('Background color', '#000000');
    screen.getByText(/light code on a dark background/);
  });
});
