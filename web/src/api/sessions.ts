/** Calls of sessions, separate from the other calls, which load with every page. */
import { lazyCall } from './index';

export const listSessions = lazyCall('listSessions');
export const endSession = lazyCall('endSession');
export const endOtherSessions = lazyCall('endOtherSessions');
