/**
 * The only door to the back end. What stands behind it (axios, the checks of replies) is loaded
 * with the first call, and a load that fails is a call that failed.
 */
import { Failure } from './failure';
import { Outdated } from './loading';
import type * as functions from './functions';

type Functions = typeof functions;

export { Failure, failureCode, type FailureCode } from './failure';
export type { Credentials, Login, ProfileLink } from './functions';
export { loadAnew, Outdated } from './loading';

function load(): Promise<Functions> {
  return import('./functions').catch((error: unknown) => {
    const code = error instanceof Outdated ? 'outdated' : 'failed';
    throw new Failure('load', code, 'the code of the call did not load');
  });
}

/** Fetches what calls need ahead of the first one. */
export function warmUp(): void {
  load().catch(() => undefined);
}

let created = 0;

/** How many links this page has made: a list that was asked for before the latest may lack it. */
export function linksCreated(): number {
  return created;
}

export const createShortLink: Functions['createShortLink'] = async (...args) => {
  const code = await (await load()).createShortLink(...args);
  created += 1;
  return code;
};

export const accessLink: Functions['accessLink'] = async (...args) =>
  (await load()).accessLink(...args);

export const verifyUser: Functions['verifyUser'] = async (...args) =>
  (await load()).verifyUser(...args);

export const registerUser: Functions['registerUser'] = async (...args) =>
  (await load()).registerUser(...args);

export const showProfile: Functions['showProfile'] = async (...args) =>
  (await load()).showProfile(...args);
