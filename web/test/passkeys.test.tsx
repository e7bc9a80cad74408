import { screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { expectNoAxeViolations, heading, HOUR, logIn, visit } from './app';
import { data, error, never, serve } from './server';

const PHONE = {
  id: 'phone',
  name: 'Phone',
  created_at: '2026-11-26T09:20:00.000Z',
  last_used_at: null,
};
const LAPTOP = {
  ...PHONE,
  id: 'laptop',
  name: 'Laptop',
  last_used_at: '2026-11-26T10:12:00.000Z',
  created_by: { id: '1', created_at: '2026-11-26T09:15:00.000Z', browser: '', system: '' },
};

/** What the browser's authenticator does. jsdom has none. */
const device = {
  create: vi.fn<(options: unknown) => Promise<unknown>>(),
  get: vi.fn<(options: { mediation: string; signal: AbortSignal }) => Promise<unknown>>(),
};

/** Its members throw on objects that the browser has not made, as those of an extension. */
class Credential {
  static conditional = false;
  static parseCreationOptionsFromJSON = (options: unknown) => options;
  static parseRequestOptionsFromJSON = (options: unknown) => options;
  static isConditionalMediationAvailable = () => Promise.resolve(Credential.conditional);
  get authenticatorAttachment(): string {
    throw new TypeError('Illegal invocation');
  }
  getClientExtensionResults(): object {
    throw new TypeError('Illegal invocation');
  }
  toJSON(): object {
    throw new TypeError('Illegal invocation');
  }
}

class Response {
  get userHandle(): ArrayBuffer {
    throw new TypeError('Illegal invocation');
  }
  getTransports(): string[] {
    throw new TypeError('Illegal invocation');
  }
}

const bytes = (...values: number[]) => new Uint8Array(values).buffer;
const created = { clientDataJSON: bytes(251, 255), attestationObject: bytes(1) };
const asked = { clientDataJSON: bytes(2, 3), authenticatorData: bytes(4), signature: bytes(5) };
const userHandle = bytes(6, 7, 8);

/** Objects as password managers give them, and the browser itself. */
const shapes: [string, (response: object) => object][] = [
  ['of the browser', (response) => ({ rawId: bytes(0), response, toJSON: () => ({}) })],
  ['that is a plain object', (response) => ({ id: 'AA', rawId: bytes(0), response })],
  [
    'with a prototype that throws',
    (response) =>
      Object.create(Credential.prototype, {
        rawId: { value: bytes(0) },
        response: {
          value: Object.create(
            Response.prototype,
            Object.getOwnPropertyDescriptors(response),
          ) as object,
        },
      }) as object,
  ],
  [
    'with views of buffers',
    (response) => ({
      rawId: new Uint8Array([9, 0, 9]).subarray(1, 2),
      response: Object.fromEntries(
        Object.entries(response).map(([name, buffer]) => [
          name,
          new DataView(buffer as ArrayBuffer),
        ]),
      ),
    }),
  ],
];
const json = (response: object) => ({
  id: 'AA',
  rawId: 'AA',
  type: 'public-key',
  clientExtensionResults: {},
  response,
});
const CREATED = json({ clientDataJSON: '-_8', attestationObject: 'AQ' });
const ASKED = json({ clientDataJSON: 'AgM', authenticatorData: 'BA', signature: 'BQ' });

beforeEach(() => {
  Credential.conditional = false;
  device.create.mockResolvedValue({ rawId: bytes(0), response: created });
  device.get.mockResolvedValue({ rawId: bytes(0), response: asked });
  vi.stubGlobal('PublicKeyCredential', Credential);
  Object.defineProperty(navigator, 'credentials', { value: device, configurable: true });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.clearAllMocks();
  Reflect.deleteProperty(navigator, 'credentials');
});

const inDialog = () => within(screen.getByRole('dialog'));

async function open(handlers: Parameters<typeof serve>[0]) {
  logIn('my-token');
  const calls = serve({ showLinks: never, ...handlers });
  const { user } = visit('/my-account/settings');
  await heading('Settings');
  const section = within(await screen.findByRole('region', { name: 'Passkeys' }));
  return { user, calls, section };
}

describe('passkeys in the settings', () => {
  it('are listed and removed with the password', async () => {
    const { user, calls, section } = await open({
      listPasskeys: () => data({ success: true, passkeys: [LAPTOP, PHONE] }),
      removePasskey: () => data({ success: true }),
    });
    const list = await section.findByRole('list', { name: 'Your passkeys' });
    const [laptop, phone] = within(list).getAllByRole('listitem');
    expect(laptop).toHaveTextContent(
      /^LaptopAdded 26 Nov 2026 Created in an unknown browser \(session of 26 Nov 2026, .*\) Last used 26 Nov 2026/,
    );
    expect(phone).toHaveTextContent(/^PhoneAdded 26 Nov 2026 Never used/);
    await expectNoAxeViolations();

    await user.click(section.getByRole('button', { name: 'Remove Laptop' }));
    const dialog = within(screen.getByRole('dialog', { name: 'Remove the passkey “Laptop”?' }));
    await user.type(dialog.getByLabelText('Password'), 'Senderos-1{Enter}');
    await section.findByText('The passkey “Laptop” was removed.');
    expect(section.getAllByRole('listitem')).toHaveLength(1);
    expect(calls.at(-1)).toEqual({
      name: 'removePasskey',
      payload: { token: 'my-token', id: 'laptop', password: 'Senderos-1' },
    });
  });

  it('are added with a name and the password', async () => {
    const added = [PHONE];
    const { user, calls, section } = await open({
      listPasskeys: () => data({ success: true, passkeys: added }),
      beginPasskey: () => data({ success: true, options: { challenge: 'a' } }),
      finishPasskey: () => {
        added.unshift({ ...PHONE, id: 'new', name: 'Key ring' });
        return data({ success: true, id: 'new' });
      },
    });
    await user.click(await section.findByRole('button', { name: 'Add a passkey' }));
    const dialog = within(screen.getByRole('dialog', { name: 'Add a passkey' }));
    await user.clear(dialog.getByLabelText('Name'));
    await user.type(dialog.getByLabelText('Name'), 'Key ring');
    await user.type(dialog.getByLabelText('Password'), 'Senderos-1');
    await expectNoAxeViolations();
    await user.click(dialog.getByRole('button', { name: 'Continue' }));
    await section.findByText('The passkey “Key ring” was added.');
    await waitFor(() => expect(section.getAllByRole('listitem')).toHaveLength(2));
    expect(device.create).toHaveBeenCalledExactlyOnceWith({ publicKey: { challenge: 'a' } });
    expect(calls.find(({ name }) => name === 'finishPasskey')?.payload).toEqual({
      token: 'my-token',
      name: 'Key ring',
      credential: CREATED,
    });
  });

  it.each(shapes)('are added with a credential %s', async (_name, shape) => {
    device.create.mockResolvedValue(shape(created));
    const { user, calls, section } = await open({
      beginPasskey: () => data({ success: true, options: {} }),
      finishPasskey: () => data({ success: true, id: 'new' }),
    });
    await user.click(await section.findByRole('button', { name: 'Add a passkey' }));
    await user.type(inDialog().getByLabelText('Password'), 'Senderos-1{Enter}');
    await section.findByText(/^The passkey .* was added.$/);
    const { payload } = calls.find(({ name }) => name === 'finishPasskey') ?? {};
    expect(payload?.['credential']).toEqual(CREATED);
  });

  it.each([null, {}, { rawId: bytes(0), response: { clientDataJSON: bytes(1) } }])(
    'are not added with anything else: %o',
    async (credential) => {
      vi.spyOn(console, 'error').mockReturnValue();
      device.create.mockResolvedValue(credential);
      const { user, calls, section } = await open({
        beginPasskey: () => data({ success: true, options: {} }),
      });
      await user.click(await section.findByRole('button', { name: 'Add a passkey' }));
      await user.type(inDialog().getByLabelText('Password'), 'Senderos-1{Enter}');
      await screen.findByText('Something went wrong. Please try again.');
      expect(calls.map(({ name }) => name)).not.toContain('finishPasskey');
    },
  );

  it.each([
    ['NotAllowedError', 'No passkey was added. You can try again.'],
    ['InvalidStateError', 'This device already has a passkey for your account.'],
    ['UnknownError', 'Something went wrong. Please try again.'],
  ])('say why the browser added none: %s', async (name, text) => {
    vi.spyOn(console, 'error').mockReturnValue();
    device.create.mockRejectedValue(new DOMException('', name));
    const { user, section } = await open({
      beginPasskey: () => data({ success: true, options: {} }),
    });
    await user.click(await section.findByRole('button', { name: 'Add a passkey' }));
    await user.type(inDialog().getByLabelText('Password'), 'Senderos-1{Enter}');
    await screen.findByText(text);
  });

  it('say why the server added none', async () => {
    const reply = error(400, 'INVALID_ARGUMENT', {}, { reason: 'INVALID_PASSKEY' });
    const { user, section } = await open({
      beginPasskey: () => data({ success: true, options: {} }),
      finishPasskey: () => reply,
    });
    await user.click(await section.findByRole('button', { name: 'Add a passkey' }));
    await user.type(inDialog().getByLabelText('Password'), 'Senderos-1{Enter}');
    await screen.findByText('The passkey could not be verified. Please try again.');
  });

  it('are at most ten', async () => {
    const passkeys = Array.from({ length: 10 }, (_, id) => ({ ...PHONE, id: String(id) }));
    const { section } = await open({ listPasskeys: () => data({ success: true, passkeys }) });
    await section.findByText(/You have 10 passkeys, the maximum/);
    expect(section.queryByRole('button', { name: 'Add a passkey' })).toBeNull();
  });
});

describe('the login page', () => {
  const button = () => screen.getByRole('button', { name: 'Log in with a passkey' });
  const login = () =>
    data({
      success: true,
      token: 'new-token',
      expirationTimestamp: Date.now() + HOUR,
      username: 'Marta',
      device: 'device',
    });

  async function openLogin(handlers: Parameters<typeof serve>[0]) {
    const calls = serve({
      beginLogin: () => data({ success: true, options: { challenge: 'a' } }),
      ...handlers,
    });
    const { user } = visit('/login');
    await heading('Log in');
    return { user, calls };
  }

  it('logs in with a passkey by its button', async () => {
    const { user, calls } = await openLogin({ finishLogin: login });
    await expectNoAxeViolations();
    await user.click(button());
    await waitFor(() => expect(location.pathname).toBe('/'));
    expect(localStorage.getItem('userToken')).toContain('new-token');
    expect(localStorage.getItem('device')).toBe('device');
    expect(calls.map(({ name }) => name)).toEqual(['beginLogin', 'finishLogin']);
    expect(calls[1]?.payload).toEqual({ credential: ASKED, device: null });
    expect(device.get.mock.calls[0]?.[0].mediation).toBe('optional');
  });

  it.each(shapes)('logs in with a credential %s', async (_name, shape) => {
    device.get.mockResolvedValue(shape({ ...asked, userHandle }));
    const { user, calls } = await openLogin({ finishLogin: login });
    await user.click(button());
    await waitFor(() => expect(location.pathname).toBe('/'));
    const response = { ...ASKED.response, userHandle: 'BgcI' };
    expect(calls[1]?.payload['credential']).toEqual({ ...ASKED, response });
  });

  it.each(shapes)('logs in without a user handle, with a credential %s', async (_name, shape) => {
    device.get.mockResolvedValue(shape(asked));
    const { user, calls } = await openLogin({ finishLogin: login });
    await user.click(button());
    await waitFor(() => expect(location.pathname).toBe('/'));
    expect(calls[1]?.payload['credential']).toEqual(ASKED);
  });

  it('offers passkeys in the field of the email', async () => {
    Credential.conditional = true;
    await openLogin({ finishLogin: login });
    expect(screen.getByLabelText('Email')).toHaveAttribute('autocomplete', 'username webauthn');
    await waitFor(() => expect(location.pathname).toBe('/'));
    expect(device.get.mock.calls[0]?.[0].mediation).toBe('conditional');
  });

  it('ends the offer in the field while the button is used, and makes it again', async () => {
    Credential.conditional = true;
    const signals: AbortSignal[] = [];
    device.get.mockImplementation(({ mediation, signal }) => {
      if (mediation === 'optional') return Promise.reject(new DOMException('', 'NotAllowedError'));
      signals.push(signal);
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
      });
    });
    const { user } = await openLogin({});
    await waitFor(() => expect(signals).toHaveLength(1));
    await user.click(button());
    await screen.findByText(/^No passkey was used/);
    await waitFor(() => expect(signals).toHaveLength(2));
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  it('says nothing if the offer in the field cannot be made', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    Credential.conditional = true;
    await openLogin({ beginLogin: () => 'network error' });
    await waitFor(() => expect(logged).toHaveBeenCalled());
    expect(screen.queryByText(/went wrong/)).toBeNull();
  });

  it.each([
    [data({ success: false, error: 'no exist' }), /^This passkey was removed from your account/],
    [data({ success: false, error: 'incorrect' }), /^The passkey could not be verified/],
    [error(503, 'UNAVAILABLE'), /^Something went wrong/],
  ])('explains a failure', async (reply, text) => {
    vi.spyOn(console, 'error').mockReturnValue();
    const { user } = await openLogin({ finishLogin: () => reply });
    await user.click(button());
    await screen.findByText(text);
    expect(localStorage.getItem('userToken')).toBeNull();
  });
});

describe('a browser without passkeys', () => {
  beforeEach(() => vi.unstubAllGlobals());

  it('shows nothing of them', async () => {
    const calls = serve({});
    visit('/login').unmount();
    visit('/login');
    await heading('Log in');
    expect(screen.getByLabelText('Email')).toHaveAttribute('autocomplete', 'username');
    expect(document.body).not.toHaveTextContent(/passkey/i);
    expect(calls).toEqual([]);
  });

  it('has no such section in the settings', async () => {
    logIn();
    serve({ showLinks: never });
    visit('/my-account/settings');
    await heading('Settings');
    expect(screen.queryByRole('region', { name: 'Passkeys' })).toBeNull();
  });
});
