import { fireEvent, screen, waitFor } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { expectNoAxeViolations } from './app';
import { fakeQrPage, file, images, name, openQrPage, PNG, url } from './qr';

/** A clipboard with an image and a text. */
const pasted = (text: string) => ({ clipboardData: { files: [PNG], getData: () => text } });

fakeQrPage();

describe('the QR generator', () => {
  it('loads, shows and removes a logo', async () => {
    let finish: () => void = () => undefined;
    images.decode = () => new Promise((resolve) => (finish = resolve));
    const user = await openQrPage();
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
    images.decode = () => (decodes ? Promise.resolve() : Promise.reject(new Error('broken')));
    await openQrPage();
    fireEvent.change(file(), { target: { files: [chosen] } });
    await screen.findByText('Please choose a valid file type');
    await waitFor(() => expect(screen.queryByText('Loading the image')).toBeNull());
    expect(screen.queryByAltText('Your logo...')).toBeNull();
  });

  it('accepts a dropped and a pasted image', async () => {
    await openQrPage();
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
    await openQrPage();
    const dataTransfer = { types: ['text/plain'], files: [] };
    expect(fireEvent.dragOver(url(), { dataTransfer })).toBe(true);
    expect(fireEvent.drop(url(), { dataTransfer })).toBe(true);
  });

  it('pastes text as text even if the clipboard also contains an image', async () => {
    await openQrPage();
    for (const field of [url(), name()]) {
      expect(fireEvent.paste(field, pasted('a cell')), 'text is pasted').toBe(true);
    }
    expect(screen.queryByText('Loading the image')).toBeNull();
    expect(screen.queryByAltText('Your logo...')).toBeNull();
    expect(fireEvent.paste(url(), pasted('')), 'there is no text to paste').toBe(false);
    await screen.findByAltText('Your logo...');
  });

  it('keeps the previous logo if the next one is broken', async () => {
    const user = await openQrPage();
    await user.upload(file(), PNG);
    await screen.findByAltText('Your logo...');
    images.decode = () => Promise.reject(new Error('broken'));
    await user.upload(file(), PNG);
    await screen.findByText('Please choose a valid file type');
    await screen.findByAltText('Your logo...');
  });
});
