/**
 * The only door to the back end. What stands behind it (axios, the checks of replies) is loaded
 * with the first call, and a load that fails is a call that failed.
 */
import { Failure } from './failure';
import { Outdated } from './loading';
import type { Owner } from '../lib/owner';
import type * as functions from './functions';
import type { Link } from './functions';

type Functions = typeof functions;

export { Failure, failureCode, failureReason, type FailureCode } from './failure';
export type { Reason } from './reasons';
export type {
  Access,
  BlockReason,
  CheckedRow,
  Credentials,
  Dates,
  Dimension,
  FormerAddress,
  ImportedRow,
  ImportResult,
  Link,
  LinkChanges,
  LinkPage,
  LinkQuery,
  LinkReport,
  LinkState,
  Login,
  PastImport,
  Preview,
  RecentSpan,
  Span,
  Statistics,
  Verdict,
} from './functions';
export { loadAnew, Outdated } from './loading';

let loading: Promise<Functions> | undefined;

/** Once it has come it is given at once: an import() takes a turn, which a page that is left has not. */
function load(): Promise<Functions> {
  loading ??= import('./functions').catch((error: unknown) => {
    loading = undefined;
    const code = error instanceof Outdated ? 'outdated' : 'failed';
    throw new Failure('load', code, 'the code of the call did not load');
  });
  return loading;
}

/** The calls, as opposed to what else their code exports. */
type Call = Exclude<keyof Functions, 'linkFields' | 'newLink'>;

/** The function of this name, whose code is loaded when it is called. */
export function later<N extends Call>(name: N): Functions[N] {
  const call = async (...args: never[]): Promise<unknown> => {
    const loaded: (...args: never[]) => unknown = (await load())[name];
    return loaded(...args);
  };
  return call as Functions[N];
}

/** Fetches what calls need ahead of the first one. */
export function warmUp(): void {
  load().catch(() => undefined);
}

type Tell = (link: Link, owner: Owner) => void;

const whoIsTold: Tell[] = [];

/** Calls back with each link that is made here from now on. */
export function whenLinkMade(tell: Tell): void {
  whoIsTold.push(tell);
}

export const createShortLink: Functions['createShortLink'] = async (link, owner, options) => {
  const { createShortLink: create, newLink } = await load();
  const code = await create(link, owner, options);
  for (const tell of whoIsTold) tell(newLink(code, link.url), owner);
  return code;
};

export const showLink = later('showLink');
export const showLinks = later('showLinks');
export const previewLink = later('previewLink');
export const reportLink = later('reportLink');
export const showStatistics = later('showStatistics');
export const changeLink = later('changeLink');
export const removeLinks = later('removeLinks');
export const restoreLinks = later('restoreLinks');
export const claimLinks = later('claimLinks');
export const accessLink = later('accessLink');
export const verifyUser = later('verifyUser');
export const registerUser = later('registerUser');
export const changePassword = later('changePassword');
export const removeAccount = later('removeAccount');
