import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { expectNoAxeViolations, heading, logIn, toasts, visit } from './app';
import { data, error, never, serve as serveAll } from './server';

/** Serves a backend. Returns the list of createShortLink calls only. */
function serve(handlers: Parameters<typeof serveAll>[0]) {
  const noLinks = () => data({ success: true, links: [], total: 0, cursor: null });
  return serveAll({ showLinks: noLinks, ...handlers }, 'createShortLink');
}

const LONG = 'https://example.org/a/long/way';
const shortens = (payload: Record<string, unknown>) =>
  data({ success: true, code: payload['code'], short_link: payload['code'] });

const field = () => screen.getByRole<HTMLInputElement>('textbox', { name: 'Link to shorten' });
const results = () => screen.findByRole('list', { name: 'New short links' });
const plates = async () =>
  within(await results()).getAllByRole('button', { name: /Copy$|Copied$|Not copied$/ });

describe('the home page', () => {
  it('explains the product, with three reasons', async () => {
    visit('/');
    await heading('Shorten, share and track your links');
    for (const name of ['Advanced analytics', 'Unique customization', 'Free and hassle-free']) {
      screen.getByRole('heading', { name });
    }
    expect(document.title).toBe('Short links and QR codes · Atajo');
    await expectNoAxeViolations();
  });

  it('shortens a link and copies the short URL', async () => {
    const calls = serve({ createShortLink: shortens });
    const { user } = visit('/');
    await user.type(field(), `  ${LONG} {Enter}`);

    const [plate] = await plates();
    const code = String(calls[0]?.payload['code']);
    expect(code).toMatch(/^[A-Za-z0-9_-]{8}$/);
    expect(calls).toEqual([
      {
        name: 'createShortLink',
        payload: { code, url: LONG, token: null, guest: localStorage.getItem('guestKey') },
      },
    ]);
    expect(plate).toHaveTextContent(`localhost:3000/${code} ${LONG} Copy`);
    expect(field().value).toBe('');

    await user.click(plate as HTMLElement);
    expect(await navigator.clipboard.readText()).toBe(`http://localhost:3000/${code}`);
    await waitFor(() => expect(plate).toHaveTextContent(/Copied$/));
    expect(screen.getByRole('status')).toHaveTextContent(/Copied$/);
    await expectNoAxeViolations();
  });

  it('removes the characters around a pasted link', async () => {
    const calls = serve({ createShortLink: shortens });
    const { user } = visit('/');
    await user.click(field());
    await user.paste('\u201chttps://ex.example/x\u201d');
    await user.keyboard('{Enter}');

    const [plate] = await plates();
    expect(calls[0]?.payload['url']).toBe('https://ex.example/x');
    expect(plate).toHaveTextContent('https://ex.example/x Copy');
  });

  it.each(['url=https://ex.example', 'http://https://ex.example'])('refuses %s', async (link) => {
    const calls = serve({ createShortLink: shortens });
    const { user } = visit('/');
    await user.type(field(), `${link}{Enter}`);
    await screen.findByText('Enter a valid URL');
    expect(calls).toEqual([]);
  });

  it('announces each copy, including the second one', async () => {
    serve({ createShortLink: shortens });
    const { user } = visit('/');
    const status = screen.getByRole('status');
    expect(status).toBeEmptyDOMElement();
    await user.type(field(), `${LONG}{Enter}`);
    const [plate] = await plates();
    await waitFor(() => expect(status).toHaveTextContent(/Short URL ready/));
    await user.click(plate as HTMLElement);
    await waitFor(() => expect(status).toHaveTextContent(/Copied$/));
    await user.click(plate as HTMLElement);
    await waitFor(() => expect(status).toHaveTextContent(/Copied Copied$/));
    expect(screen.getAllByRole('status')).toEqual([status]);
  });

  it('announces a repeated error again', async () => {
    const { user } = visit('/');
    await user.type(field(), 'ab{Enter}');
    const first = await screen.findByText('Enter a valid URL');
    await user.type(field(), 'ab{Enter}');
    await waitFor(() => expect(first).not.toBeInTheDocument());
    screen.getByText('Enter a valid URL');
  });

  it('passes the short URL to the QR generator', async () => {
    serve({ createShortLink: shortens });
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    await user.click(await screen.findByRole('link', { name: 'Make a QR code' }));
    await heading('CUSTOM QR CODE GENERATOR');
    expect(screen.getByRole<HTMLInputElement>('textbox', { name: 'URL' }).value).toMatch(
      /^http:\/\/localhost:3000\/[A-Za-z0-9_-]{8}$/,
    );
  });

  it('says when copying is refused', async () => {
    serve({ createShortLink: shortens });
    const { user } = visit('/');
    vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new Error('denied'));
    Object.assign(document, { execCommand: () => false });
    await user.type(field(), `${LONG}{Enter}`);
    const [plate] = await plates();
    await user.click(plate as HTMLElement);
    await waitFor(() => expect(plate).toHaveTextContent(/Not copied$/));
  });

  it.each([
    ['ab', 'Enter a valid URL'],
    ['', 'Enter a valid URL'],
    ['example.com', 'Incluse https:// or http:// to url'],
    [`https://example.com/${'a'.repeat(980)}`, 'URL is too long'],
    ['javascript:alert("http://")', 'Enter a valid URL'],
  ])('refuses %s', async (text, message) => {
    const calls = serve({ createShortLink: shortens });
    const { user } = visit('/');
    if (text) {
      await user.click(field());
      await user.paste(text);
    }
    await user.click(screen.getByRole('button', { name: 'Shorten' }));
    expect(await screen.findByText(message, { selector: '[role=alert] *' })).toBeInTheDocument();
    expect(field()).toHaveAccessibleDescription(message);
    expect(field().value).toBe('');
    expect(calls).toEqual([]);
    await expectNoAxeViolations();
  });

  it('clears an error with the next link', async () => {
    serve({ createShortLink: shortens });
    const { user } = visit('/');
    await user.type(field(), 'no{Enter}');
    await screen.findByText('Enter a valid URL', { selector: '[role=alert] *' });
    expect(field()).toBeInvalid();
    await user.type(field(), `${LONG}{Enter}`);
    await results();
    expect(screen.queryByText('Enter a valid URL')).toBeNull();
    expect(field()).not.toBeInvalid();
  });

  it('sends the token of the session', async () => {
    logIn('my-token');
    const calls = serve({ createShortLink: shortens });
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    await results();
    expect(calls[0]?.payload['token']).toBe('my-token');
  });

  it('reports and removes an invalid token, and stays on the page', async () => {
    logIn();
    const calls = serve({
      createShortLink: () => data({ success: false, error: 'invalid token' }),
    });
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    await waitFor(() => expect(toasts()).toContain('Invalid user token'));
    expect(field()).toHaveAccessibleDescription('Invalid user token');
    expect(localStorage.getItem('userToken')).toBeNull();
    expect(location.pathname).toBe('/');
    expect(screen.queryByText('Shortening')).toBeNull();
    expect(calls).toHaveLength(1);
  });

  it('shows a refusal by the server like one by the page', async () => {
    serve({ createShortLink: () => error(400, 'INVALID_ARGUMENT') });
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    await screen.findByText('Enter a valid URL');
    expect(screen.queryByText(LONG)).toBeNull();
  });

  it('says that a link to a blocked destination cannot be shortened', async () => {
    const calls = serve({
      createShortLink: () => error(400, 'INVALID_ARGUMENT', {}, { reason: 'URL_REFUSED' }),
    });
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    const words = 'This link cannot be shortened.';
    expect(await screen.findByText(words, { selector: '[role=alert] *' })).toBeInTheDocument();
    expect(field()).toHaveAccessibleDescription(words);
    expect(field().value).toBe('');
    expect(screen.queryByText('Shortening')).toBeNull();
    expect(calls).toHaveLength(1);
  });

  it('replaces a taken code without a message', async () => {
    let first = true;
    const calls = serve({
      createShortLink: (payload) => {
        const taken = first;
        first = false;
        return taken ? error(409, 'ABORTED') : shortens(payload);
      },
    });
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    await plates();
    expect(calls).toHaveLength(2);
    expect(calls[0]?.payload['code']).not.toBe(calls[1]?.payload['code']);
  });

  it('repeats the same request and keeps the spinner until it succeeds', async () => {
    const log = vi.spyOn(console, 'error').mockReturnValue();
    let down = true;
    const calls = serve({
      createShortLink: (payload) => (down ? 'network error' : shortens(payload)),
    });
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    await waitFor(() => expect(calls).toHaveLength(1));
    await waitFor(() => expect(log).toHaveBeenCalled());
    screen.getByRole('img', { name: 'Shortening' });
    expect(screen.getByText(LONG)).toBeInTheDocument();
    for (const alert of screen.getAllByRole('alert')) expect(alert).toBeEmptyDOMElement();

    vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
    act(() => void window.dispatchEvent(new Event('offline')));
    screen.getByRole('img', { name: 'Waiting for a connection' });

    // A click on Shorten with an empty field does nothing meanwhile.
    await user.click(screen.getByRole('button', { name: 'Shorten' }));
    expect(screen.queryByText('Enter a valid URL')).toBeNull();

    down = false;
    act(() => void window.dispatchEvent(new Event('online')));
    await plates();
    expect(calls[0]).toEqual(calls[1]);
    await expectNoAxeViolations();
  });

  it('shows how long the server asks to wait, and can be canceled', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const busy = () => error(429, 'RESOURCE_EXHAUSTED', { 'retry-after': '75' });
    const calls = serve({ createShortLink: busy });
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    const giveUp = await screen.findByRole('button', { name: 'Cancel' });
    await screen.findByText('Trying again in 75 seconds', { selector: '[role=status] *' });
    await expectNoAxeViolations();
    act(() => void vi.advanceTimersByTime(30_000));
    // The countdown is visible, and the duration is announced once.
    expect(screen.getByText(/^Trying again in 4\d seconds$/)).toHaveAttribute(
      'aria-hidden',
      'true',
    );
    expect(screen.getByRole('status')).toBeEmptyDOMElement();
    await act(() => vi.advanceTimersByTimeAsync(46_000));
    expect(calls).toHaveLength(2);
    // The next wait looks like the first, and the button has stayed.
    expect(screen.getByRole('button', { name: 'Cancel' })).toBe(giveUp);

    await user.click(giveUp);
    expect(screen.queryByText(/Trying again/)).toBeNull();
    expect(field()).toHaveFocus();
    expect(field().value).toBe(LONG);
    await act(() => vi.advanceTimersByTimeAsync(200_000));
    expect(calls).toHaveLength(2);
  });

  it('keeps the focus when the focused Cancel button disappears with a created link', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    vi.useFakeTimers({ shouldAdvanceTime: true });
    let busy = true;
    serve({
      createShortLink: (payload) =>
        busy ? error(429, 'RESOURCE_EXHAUSTED', { 'retry-after': '600' }) : shortens(payload),
    });
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    (await screen.findByRole('button', { name: 'Cancel' })).focus();
    screen.getAllByText('Trying again in 10 minutes');
    busy = false;
    await act(() => vi.advanceTimersByTimeAsync(600_000));
    await plates();
    // Around its last position, and not in the field, which would open the keyboard of a phone.
    const place = field().closest('form')?.parentElement as HTMLElement;
    await waitFor(() => expect(place).toHaveFocus());
    // Leaving the window does not take the focus away.
    fireEvent.blur(place);
    expect(place).toHaveAttribute('tabindex', '-1');
    act(() => field().focus());
    expect(place).not.toHaveAttribute('tabindex');
  });

  it('fills in a stored link once, and not again after it was submitted', async () => {
    serve({ createShortLink: shortens });
    const { user } = visit('/?from=mail#here', { link: LONG });
    await waitFor(() => expect(field().value).toBe(LONG));
    await user.click(screen.getByRole('button', { name: 'Shorten' }));
    await plates();
    expect(JSON.stringify(history.state)).not.toContain(LONG);
    expect(location.search + location.hash).toBe('?from=mail#here');
  });

  it('shows no message for a short wait', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    let busy = true;
    serve({
      createShortLink: (payload) => {
        const answer = busy
          ? error(429, 'RESOURCE_EXHAUSTED', { 'retry-after': '1' })
          : shortens(payload);
        busy = false;
        return answer;
      },
    });
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    await screen.findAllByText('Shortening');
    await waitFor(async () => expect(await plates()).toHaveLength(1), { timeout: 3_000 });
    expect(screen.queryByRole('button', { name: 'Cancel' })).toBeNull();
  });

  it('stops retrying when the user leaves the page', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    const calls = serve({ createShortLink: () => 'network error' });
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    await waitFor(() => expect(calls).toHaveLength(1));
    await user.click(screen.getByRole('link', { name: 'LOGIN' }));
    await heading('Log in');
    // The navigation may have taken as long as the pause before another attempt.
    const made = calls.length;
    act(() => void window.dispatchEvent(new Event('online')));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(calls).toHaveLength(made);
  });

  it('lists earlier results below, newest first, and keeps them on other pages', async () => {
    serve({ createShortLink: shortens });
    const { user } = visit('/');
    await user.type(field(), 'https://example.org/first{Enter}');
    await plates();
    await user.type(field(), 'https://example.org/second{Enter}');
    await waitFor(async () => expect(await plates()).toHaveLength(2));
    const texts = (await plates()).map((plate) => plate.textContent);
    expect(texts[0]).toContain('second');
    expect(texts[1]).toContain('first');

    await user.click(screen.getByRole('link', { name: 'SHORTENER' }));
    await heading('Shorten a link');
    expect(await plates()).toHaveLength(2);
  });

  it('replaces a submission in flight with a new one', async () => {
    const calls = serve({
      createShortLink: (payload) =>
        payload['url'] === 'https://example.org/old' ? never() : shortens(payload),
    });
    const { user } = visit('/');
    await user.type(field(), 'https://example.org/old{Enter}');
    await waitFor(() => expect(calls).toHaveLength(1));
    await user.type(field(), 'https://example.org/new{Enter}');
    expect(await plates()).toHaveLength(1);
    expect(screen.queryByText('https://example.org/old')).toBeNull();
  });
});

describe('the shortener page', () => {
  it('shows three steps and accepts links without a scheme', async () => {
    const calls = serve({ createShortLink: shortens });
    const { user } = visit('/short-link');
    await heading('Shorten a link');
    const [steps] = screen.getAllByRole('list');
    expect(
      within(steps as HTMLElement)
        .getAllByRole('heading')
        .map((step) => step.textContent),
    ).toEqual(['Have a link', 'Paste the link', 'Share the link']);
    await expectNoAxeViolations();

    await user.type(field(), 'example.com/x{Enter}');
    await plates();
    expect(calls[0]?.payload['url']).toBe('example.com/x');
  });
});
