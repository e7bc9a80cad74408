import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { expectNoAxeViolations } from './app';
import { code, download, fakeQrPage, file, name, openQrPage, picker, PNG, saved, url } from './qr';
import { serve } from './server';

fakeQrPage();

describe('the QR generator', () => {
  it('shows its controls and three blocks, without a request', async () => {
    const calls = serve({});
    const user = await openQrPage();
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
    await openQrPage({ url: 'https://atajo.example/k7Qm2_xB' });
    expect(url().value).toBe('https://atajo.example/k7Qm2_xB');
  });

  it('does not download without a text', async () => {
    const user = await openQrPage();
    await user.click(download());
    await screen.findByText('Please enter a link to start downloading...');
    expect(saved).toEqual([]);
  });

  it('downloads under the default name or a custom one', async () => {
    const user = await openQrPage();
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
      await openQrPage({ url: 'x' });
      expect(code()).toHaveProperty('width', 400);
      expect(code()).toHaveProperty('height', 400);
    },
  );

  it('draws no code without a text', async () => {
    const user = await openQrPage();
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

  it('says when the text is too long instead of drawing a code, and counts near the limit', async () => {
    await openQrPage({ url: 'x'.repeat(2953) });
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
    await openQrPage({ url: 'a\ud83d' });
    expect(code()).toBeInTheDocument();
  });

  it('accepts several lines', async () => {
    const user = await openQrPage();
    await user.type(url(), 'a{Enter}b');
    expect(url()).toHaveValue('a\nb');
  });
});
