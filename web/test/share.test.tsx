import { screen, waitFor } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { sharedLink } from '../src/lib/shared';
import { expectNoAxeViolations, heading, toasts, visit } from './app';
import { serve } from './server';

const field = () => screen.getByLabelText<HTMLInputElement>('Link to shorten');

describe('a shared link', () => {
  it.each([
    ['?url=https://a.example/', '', 'https://a.example/'],
    ['?title=T&text=See%20https://a.example/x?y=1%26z%20now', '', 'https://a.example/x?y=1&z'],
    ['?title=https://c.example&text=https://b.example', '', 'https://b.example'],
    ['?title=https://c.example&text=none&url=', '', 'https://c.example'],
    ['', '#url=https%3A%2F%2Fa.example%2F%23part', 'https://a.example/#part'],
    ['?text=HTTP://A.example', '', 'HTTP://A.example'],
    ['?text=看（https://a.example/x）吧', '', 'https://a.example/x'],
    ['?text=Read this: https://a.example/x.', '', 'https://a.example/x'],
    ['?title=(https://a.example/x)', '', 'https://a.example/x'],
    ['', '#text=https://a.example/x，看', 'https://a.example/x'],
    ['?url=https://a.example/x.', '', 'https://a.example/x.'],
    ['?text=<a href="https://a.example/">', '', 'https://a.example/'],
    ['?url=javascript:alert(1)', '', null],
    ['?url=example.com', '', null],
    ['?url=https://', '', null],
    ['?other=https://a.example', '', null],
    ['?url=%ff%00', '#url=%', null],
    ['', '', null],
  ])('is found in %s%s', (search, hash, link) => {
    expect(sharedLink(search, hash)).toBe(link);
  });

  it.each(['?title=A%20page&url=https%3A%2F%2Fa.example%2Fx', '#url=https%3A%2F%2Fa.example%2Fx'])(
    'is in the field of the shortener, and nothing is sent: %s',
    async (parameters) => {
      const calls = serve({});
      visit(`/share${parameters}`);
      await heading('Shorten a link');
      expect(field()).toHaveValue('https://a.example/x');
      expect(location.pathname + location.search + location.hash).toBe('/short-link');
      expect(calls).toEqual([]);
    },
  );

  it('that is none is explained', async () => {
    serve({});
    visit('/share?text=%3Cscript%3Ealert(1)%3C/script%3E');
    await heading('Shorten a link');
    await waitFor(() => expect(toasts()).toEqual(['No link was found in what was shared.']));
    expect(field()).toHaveValue('');
    expect(location.search).toBe('');
  });
});

describe('the shortener page', () => {
  it('explains how to use it from elsewhere', async () => {
    serve({});
    const { user } = visit('/short-link');
    await heading('Shorten a link');
    const bookmark = screen.getByRole('link', { name: 'Shorten with Atajo' });
    const script = decodeURIComponent(bookmark.getAttribute('href') ?? '');
    expect(script).toBe(
      `javascript:void open("${location.origin}/share#url="+encodeURIComponent(location.href))`,
    );
    await user.click(bookmark);
    expect(location.pathname).toBe('/short-link');
    screen.getByText(`${location.origin}/share?url=%s`);
    await expectNoAxeViolations();
  });
});
