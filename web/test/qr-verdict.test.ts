import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { brightness } from '../src/features/qr/colors';
import { expectNoAxeViolations } from './app';
import { code, decoder, download, fakeQrPage, openQrPage, picker, saved, url } from './qr';

fakeQrPage();

describe('the verdict', () => {
  const paint = async (
    user: Awaited<ReturnType<typeof openQrPage>>,
    label: string,
    color: string,
  ) => {
    await user.click(picker(label));
    const text = screen.getByRole('textbox', { name: 'Hex, rgb() or hsl()' });
    await user.clear(text);
    await user.type(text, `${color}{Escape}`);
  };
  const shown = (text: RegExp | string) =>
    waitFor(() => expect(screen.getAllByText(text).length).toBeGreaterThan(0));
  const mend = (name: string) => screen.getByRole('button', { name });

  it('is good if the exact text was read, and announced after a pause', async () => {
    decoder.reads = () => 'x';
    const user = await openQrPage({ url: 'x' });
    await shown('Scans well on white');
    await waitFor(() => expect(screen.getAllByText('Scans well on white')).toHaveLength(2));
    await expectNoAxeViolations();
    await user.click(download());
    await waitFor(() => expect(saved).toHaveLength(1));
    expect(screen.queryByText(/^Saved/)).toBeNull();
  });

  it('is limited to white surroundings while the code has no quiet zone', async () => {
    decoder.reads = () => 'x';
    const user = await openQrPage({ url: 'x' });
    await shown('Scans well on white');
    await user.click(screen.getByRole('switch', { name: /^Quiet zone/ }));
    await shown('Scans well');
    await user.click(screen.getByRole('switch', { name: /^Quiet zone/ }));
    await shown('Scans well on white');
    await paint(user, 'Background color', '#fffbe6');
    await shown('Scans well');
  });

  it('shows the scan distance of a print, and warns if a camera may fail', async () => {
    decoder.reads = () => 'x';
    decoder.loses = () => 'worn';
    await openQrPage({ url: 'x' });
    await shown('Hard to scan');
    await shown('Printed 50 mm wide, it scans from up to 62 cm away.');
    // No tried change makes it scan well.
    await waitFor(() => mend('Download as SVG to print it larger'));
    await expectNoAxeViolations();
  });

  it('suggests the first change that improves a trial code, and applies it on a click', async () => {
    decoder.reads = () => 'x';
    decoder.loses = () => 'noisy';
    const user = await openQrPage({ url: 'x' });
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
    decoder.loses = () => (tried === '' || tried.includes('#146c43') ? 'noisy' : null);
    await user.click(screen.getByRole('switch'));
    await waitFor(() => mend('Increase contrast'));
    decoder.loses = () => null;
    await user.click(mend('Increase contrast'));
    await shown('Scans well');
    expect(brightness(picker('Color').textContent.slice(-7))).toBeLessThan(56);
    expect(screen.queryByRole('button', { name: 'Increase contrast' })).toBeNull();
  });

  it('warns if another text was read, and still saves the file', async () => {
    decoder.reads = () => 'y';
    const user = await openQrPage({ url: 'x' });
    await paint(user, 'Color', '#146c43');
    await shown('The check could not read this code.');
    await user.click(download());
    await screen.findByText(/^Saved, but it may not scan: the check/);
    expect(saved).toHaveLength(1);
    await user.click(mend('Use black on white'));
    expect(picker('Color')).toHaveTextContent('#000000');
  });

  it('fixes colors that are too similar or inverted with one click', async () => {
    decoder.reads = () => 'x';
    const user = await openQrPage({ url: 'x' });
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
    decoder.reads = () => dense;
    const user = await openQrPage({ url: dense });
    await shown(/the modules are too small/);
    await user.click(mend('Download as SVG to print it larger'));
    await waitFor(() => expect(saved).toEqual(['my-qr-code.svg']));
    expect(screen.queryByText(/^Saved, but/)).toBeNull();
  });

  it('says that nothing was checked if the decoder did not load, and retries', async () => {
    const user = await openQrPage({ url: 'x' });
    await shown('Not checked: the decoder did not load.');
    await user.click(download());
    await screen.findByText('Saved without a check: the decoder did not load');
    expect(saved).toHaveLength(1);
    decoder.reads = () => 'x';
    await user.click(mend('Try again'));
    await shown('Scans well on white');
  });

  it('is pending while the decoder loads slowly, and checks only the latest code', async () => {
    let arrive: () => void = () => undefined;
    decoder.loads = new Promise((resolve) => (arrive = resolve));
    const read = vi.fn(() => 'x');
    decoder.reads = read;
    const user = await openQrPage({ url: 'y' });
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
    decoder.loads = new Promise(() => undefined);
    const user = await openQrPage({ url: 'x' });
    await paint(user, 'Color', '#eeeeee');
    await shown(/too similar/);
  });
});
