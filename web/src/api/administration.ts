/**
 * Calls of administrators. Their code loads with the first of them, and is no part of what other
 * pages load.
 */
import { Failure } from './failure';
import type * as functions from './functions/administration';
import { Outdated } from './loading';

export type {
  BlockExplanation,
  Decision,
  Instance,
  Invitation,
  ListedAccount,
  NewDecision,
  Page,
  ReportedLink,
  ReportFile,
  Role,
} from './functions/administration';

type Functions = typeof functions;

/** Nothing is chained to the import(): the build would make it part of the import(). */
const load = () => import('./functions/administration');

/** Returns the call of this name, which loads its code when it is called. */
function lazyCall<N extends keyof Functions>(name: N): Functions[N] {
  const call = async (...args: never[]): Promise<unknown> => {
    let loaded: Functions;
    try {
      loaded = await load();
    } catch (error) {
      const code = error instanceof Outdated ? 'outdated' : 'failed';
      throw new Failure('load', code, 'the code of the call did not load');
    }
    return (loaded[name] as (...args: never[]) => unknown)(...args);
  };
  return call as Functions[N];
}

export const confirmSession = lazyCall('confirmSession');
export const listReports = lazyCall('listReports');
export const showReports = lazyCall('showReports');
export const decide = lazyCall('decide');
export const explainBlock = lazyCall('explainBlock');
export const listDecisions = lazyCall('listDecisions');
export const listAccounts = lazyCall('listAccounts');
export const changeAccount = lazyCall('changeAccount');
export const blockAccountLinks = lazyCall('blockAccountLinks');
export const endAccountSessions = lazyCall('endAccountSessions');
export const createResetLink = lazyCall('createResetLink');
export const createInvitation = lazyCall('createInvitation');
export const listInvitations = lazyCall('listInvitations');
export const revokeInvitation = lazyCall('revokeInvitation');
export const showInstance = lazyCall('showInstance');
