/**
 * The only interface to the backend.
 *
 * The implementation (axios, the validation of replies) loads with the first call. If it does not
 * load, that call fails.
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
  ApiKey,
  BlockReason,
  CheckedRow,
  Connection,
  Connections,
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
  OidcLink,
  Passkey,
  PastImport,
  Preview,
  RecentSpan,
  RecoveryCodeCount,
  Scope,
  Session,
  Span,
  Statistics,
  Verdict,
} from './functions';
export { reloadOnce, Outdated } from './loading';

let loading: Promise<Functions> | undefined;

/**
 * Loads the calls once and reuses the promise. Another import() would take a turn of the event
 * loop, which a page that is being closed does not have.
 */
function load(): Promise<Functions> {
  loading ??= import('./functions').catch((error: unknown) => {
    loading = undefined;
    const code = error instanceof Outdated ? 'outdated' : 'failed';
    throw new Failure('load', code, 'the code of the call did not load');
  });
  return loading;
}

/** Names of the calls, without the other exports of their module. */
type Call = Exclude<keyof Functions, 'linkFields' | 'newLink'>;

/** Returns the call of this name, which loads its code when it is called. */
export function lazyCall<N extends Call>(name: N): Functions[N] {
  const call = async (...args: never[]): Promise<unknown> => {
    const loaded: (...args: never[]) => unknown = (await load())[name];
    return loaded(...args);
  };
  return call as Functions[N];
}

/** Loads the code of the calls before the first call. */
export function warmUp(): void {
  load().catch(() => undefined);
}

type LinkListener = (link: Link, owner: Owner) => void;

const linkListeners: LinkListener[] = [];

/** Registers a listener for every link that this page creates from now on. */
export function onLinkCreated(listener: LinkListener): void {
  linkListeners.push(listener);
}

export const createShortLink: Functions['createShortLink'] = async (link, owner, options) => {
  const { createShortLink: create, newLink } = await load();
  const code = await create(link, owner, options);
  const created = newLink(code, link.url, undefined, link.domain);
  for (const listener of linkListeners) listener(created, owner);
  return code;
};

export const showLink = lazyCall('showLink');
export const showLinks = lazyCall('showLinks');
export const previewLink = lazyCall('previewLink');
export const reportLink = lazyCall('reportLink');
export const showStatistics = lazyCall('showStatistics');
export const changeLink = lazyCall('changeLink');
export const removeLinks = lazyCall('removeLinks');
export const restoreLinks = lazyCall('restoreLinks');
export const claimLinks = lazyCall('claimLinks');
export const accessLink = lazyCall('accessLink');
export const verifyUser = lazyCall('verifyUser');
export const registerUser = lazyCall('registerUser');
export const changePassword = lazyCall('changePassword');
export const removeAccount = lazyCall('removeAccount');
