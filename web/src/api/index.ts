/**
 * The only door to the back end. What stands behind it (axios, the checks of replies) is loaded
 * with the first call, and a load that fails is a call that failed.
 */
import { Failure } from './failure';
import { Outdated } from './loading';
import type { Owner } from '../lib/owner';
import type * as functions from './functions';

type Functions = typeof functions;

export { Failure, failureCode, failureReason, type FailureCode, type Reason } from './failure';
export type {
  Access,
  BlockReason,
  Credentials,
  FormerAddress,
  Link,
  LinkChanges,
  LinkPage,
  LinkQuery,
  LinkState,
  Login,
} from './functions';
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

type Tell = (link: { code: string; url: string }, owner: Owner) => void;

const whoIsTold: Tell[] = [];

/** Calls back with each link that is made here from now on. */
export function whenLinkMade(tell: Tell): void {
  whoIsTold.push(tell);
}

export const createShortLink: Functions['createShortLink'] = async (link, owner, options) => {
  const code = await (await load()).createShortLink(link, owner, options);
  for (const tell of whoIsTold) tell({ code, url: link.url }, owner);
  return code;
};

export const showLink: Functions['showLink'] = async (...args) => (await load()).showLink(...args);

export const showLinks: Functions['showLinks'] = async (...args) =>
  (await load()).showLinks(...args);

export const changeLink: Functions['changeLink'] = async (...args) =>
  (await load()).changeLink(...args);

export const removeLinks: Functions['removeLinks'] = async (...args) =>
  (await load()).removeLinks(...args);

export const restoreLinks: Functions['restoreLinks'] = async (...args) =>
  (await load()).restoreLinks(...args);

export const claimLinks: Functions['claimLinks'] = async (...args) =>
  (await load()).claimLinks(...args);

export const accessLink: Functions['accessLink'] = async (...args) =>
  (await load()).accessLink(...args);

export const verifyUser: Functions['verifyUser'] = async (...args) =>
  (await load()).verifyUser(...args);

export const registerUser: Functions['registerUser'] = async (...args) =>
  (await load()).registerUser(...args);

export const changePassword: Functions['changePassword'] = async (...args) =>
  (await load()).changePassword(...args);

export const removeAccount: Functions['removeAccount'] = async (...args) =>
  (await load()).removeAccount(...args);
