import { screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { expectNoAxeViolations } from './app';
import { fakeQrPage, openQrPage, picker } from './qr';

fakeQrPage();

describe('the QR generator', () => {
  it('opens one picker at a time, whose button reads CLOSE', async () => {
    const user = await openQrPage();
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
    const user = await openQrPage();
    await user.click(picker('Color'));
    await user.keyboard('{Escape}');
    expect(picker('Color')).toHaveTextContent('#000000');
    expect(picker('Color')).toHaveFocus();
    await user.click(picker('Color'));
    await user.click(screen.getByRole('heading', { level: 1 }));
    expect(picker('Color')).toHaveTextContent('#000000');
  });

  it('closes a picker that the focus leaves, and stays open inside', async () => {
    const user = await openQrPage();
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

  it.each([
    ['#146C43', '#146c43'],
    ['abc', '#aabbcc'],
    ['rgb(20, 108, 67)', '#146c43'],
    ['rgb(100% 0% 0%)', '#ff0000'],
    ['hsl(153 69% 25%)', '#146c44'],
    ['hsl(-90deg, 100%, 50%)', '#8000ff'],
  ])('accepts %s as a color', async (typed, hex) => {
    const user = await openQrPage();
    await user.click(picker('Color'));
    const text = screen.getByRole('textbox', { name: 'Hex, rgb() or hsl()' });
    await user.clear(text);
    await user.type(text, typed);
    expect(text).toHaveValue(typed);
    await user.keyboard('{Escape}');
    expect(picker('Color')).toHaveTextContent(hex);
  });

  it('keeps the color while the typed text is not one', async () => {
    const user = await openQrPage();
    await user.click(picker('Color'));
    const text = screen.getByRole('textbox', { name: 'Hex, rgb() or hsl()' });
    await user.clear(text);
    await user.type(text, 'rgb(1,');
    expect(text).toBeInvalid();
    await user.keyboard('{Escape}');
    expect(picker('Color')).toHaveTextContent('#000000');
  });
});
