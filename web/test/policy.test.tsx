/** What the pages offer where the operator closed registration, or links without an account. */
import { screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectNoAxeViolations, heading, logIn, menuLinks, visit } from './app';
import { data, serve } from './server';

/** Sets what the server writes into the document. */
function configure(name: string, value: string): void {
  const meta = document.createElement('meta');
  meta.name = `atajo-${name}`;
  meta.content = value;
  document.head.append(meta);
}

afterEach(() => {
  for (const meta of document.querySelectorAll('meta[name^="atajo-"]')) meta.remove();
});

const shortenButton = () => screen.queryByRole('button', { name: 'Shorten' });

describe.each([
  ['invite', 'Registration is by invitation.'],
  ['closed', 'Registration is closed.'],
])('where registration is %s', (policy, sentence) => {
  beforeEach(() => configure('registration', policy));

  it('is offered by no menu, log-in page or home page', async () => {
    const { unmount } = visit('/');
    expect(menuLinks()).toEqual(['HOME', 'SHORTENER', 'QR CODE', 'LOGIN']);
    expect(document.body).not.toHaveTextContent('An account is optional');
    unmount();
    visit('/login');
    await heading('Log in');
    expect(screen.queryByRole('link', { name: /register/i })).toBeNull();
  });

  it('is explained by the register page, which has no form', async () => {
    visit('/register');
    await screen.findByText(sentence);
    expect(screen.queryByRole('textbox')).toBeNull();
    expect(screen.getByRole('link', { name: 'Log in' })).toHaveAttribute('href', '/login');
    await expectNoAxeViolations();
  });

  it('needs the invitation of the URL, which leaves the address bar', async () => {
    const calls = serve({ registerUser: () => data({ success: true }) });
    const { user } = visit('/register#invitation=Abc-_123');
    await heading('Register');
    await waitFor(() => expect(location.hash).toBe(''));
    await user.type(screen.getByRole('textbox', { name: 'Email' }), 'marta@example.org');
    await user.type(screen.getByLabelText('Password'), 'Senderos-1');
    await user.type(screen.getByRole('textbox', { name: 'Username' }), 'Marta');
    await user.click(screen.getByRole('button', { name: 'REGISTER' }));
    await heading('Log in');
    expect(calls.map(({ payload }) => payload['invitation'])).toEqual(['Abc-_123']);
  });

  it('still has the invitation after a reload', async () => {
    const { unmount } = visit('/register#invitation=Abc-_123');
    await waitFor(() => expect(location.hash).toBe(''));
    const { usr } = history.state as { usr: object };
    unmount();
    visit('/register', usr);
    await screen.findByRole('textbox', { name: 'Email' });
  });

  it.each([
    ['invitation', 'Registration is by invitation. This invitation is not valid'],
    ['closed', 'Registration is closed.'],
  ])('says when the server refuses it: %s', async (outcome, text) => {
    serve({ registerUser: () => data({ success: false, error: outcome }) });
    const { user } = visit('/register#invitation=used');
    await user.type(await screen.findByRole('textbox', { name: 'Email' }), 'marta@example.org');
    await user.type(screen.getByLabelText('Password'), 'Senderos-1');
    await user.type(screen.getByRole('textbox', { name: 'Username' }), 'Marta');
    await user.click(screen.getByRole('button', { name: 'REGISTER' }));
    await screen.findByText(new RegExp(text));
  });
});

it('sends no invitation where registration is open', async () => {
  const calls = serve({ registerUser: () => data({ success: true }) });
  const { user } = visit('/register');
  await user.type(await screen.findByRole('textbox', { name: 'Email' }), 'marta@example.org');
  await user.type(screen.getByLabelText('Password'), 'Senderos-1');
  await user.type(screen.getByRole('textbox', { name: 'Username' }), 'Marta');
  await user.click(screen.getByRole('button', { name: 'REGISTER' }));
  await heading('Log in');
  expect(Object.keys(calls[0]?.payload ?? {})).not.toContain('invitation');
});

describe('where only accounts shorten', () => {
  beforeEach(() => configure('guest-links', 'off'));

  it.each(['/', '/short-link'])('%s says so in place of its form', async (path) => {
    visit(path);
    await waitFor(() => expect(document.body).toHaveTextContent('Log in to shorten links.'));
    expect(shortenButton()).toBeNull();
    expect(screen.queryByRole('textbox', { name: 'Link to shorten' })).toBeNull();
    expect(document.body).not.toHaveTextContent('without an account');
    await expectNoAxeViolations();
  });

  it('lets those shorten who are logged in', () => {
    logIn();
    visit('/');
    expect(shortenButton()).not.toBeNull();
    expect(document.body).not.toHaveTextContent('Log in to shorten links.');
  });

  it('does not promise in the terms that links need no account', async () => {
    visit('/terms-of-use');
    await heading('Terms of use');
    expect(document.body).toHaveTextContent('Creating short links requires an account');
    expect(document.body).not.toHaveTextContent('do not require an account');
  });
});

it('says that only accounts shorten if the server does not let a guest', async () => {
  serve({ createShortLink: () => data({ success: false, error: 'no logged' }) });
  const { user } = visit('/');
  await user.type(
    screen.getByRole('textbox', { name: 'Link to shorten' }),
    'https://a.example/{Enter}',
  );
  await screen.findByText('Log in to shorten links.');
});

describe('a suspended account', () => {
  it('is told so in one sentence', async () => {
    serve({ verifyUser: () => data({ success: false, error: 'suspended' }) });
    const { user } = visit('/login');
    await user.type(await screen.findByRole('textbox', { name: 'Email' }), 'marta@example.org');
    await user.type(screen.getByLabelText('Password'), 'Senderos-1');
    await user.click(screen.getByRole('button', { name: 'LOGIN' }));
    await screen.findByText('This account is suspended: the operator of this site has locked it.');
  });
});
