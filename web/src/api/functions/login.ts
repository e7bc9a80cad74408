/** Logins, and expiry times of sessions by the clock of this browser. */
import * as v from 'valibot';
import { succeed } from '../client';

export const session = {
  token: v.pipe(v.string(), v.nonEmpty()),
  expirationTimestamp: v.number(),
};

/** Whether the account is an administrator. The replies of others do not have it. */
const administrator = v.optional(v.boolean(), false);

/** What the reply of a login has. */
export const login = { ...session, username: v.string(), device: v.string(), administrator };

export interface Login {
  token: string;
  /** Epoch milliseconds of this browser's clock. */
  expirationTimestamp: number;
  username: string;
  /** Device token to send with the next login; '' for none. */
  device: string;
  isAdministrator: boolean;
}

export async function requestLogin(
  name: 'verifyUser' | 'finishLogin',
  payload: object,
): Promise<Login> {
  const { data, date } = await succeed(name, payload, login, [
    'incorrect',
    'no exist',
    'suspended',
  ]);
  return toLogin(data, date);
}

/** Returns the login of a reply with this server time. */
export function toLogin(
  data: v.InferOutput<v.ObjectSchema<typeof login, undefined>>,
  date: number,
): Login {
  return {
    token: data.token,
    expirationTimestamp: byOwnClock(data.expirationTimestamp, date),
    username: data.username,
    device: data.device,
    isAdministrator: data.administrator,
  };
}

/**
 * Converts an expiry time of the server's clock to this browser's clock.
 *
 * The clocks may be hours apart, so the remaining time is computed from server times alone.
 */
export function byOwnClock(expirationTimestamp: number, serverDate: number): number {
  if (Number.isNaN(serverDate)) return expirationTimestamp;
  // The date is truncated by up to a second: expire rather a second too early.
  return Date.now() + expirationTimestamp - (serverDate + 1000);
}
