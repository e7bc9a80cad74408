/** Calls of passkeys, separate from the other calls, which load with every page. */
import { lazyCall } from './index';

export const listPasskeys = lazyCall('listPasskeys');
export const beginPasskey = lazyCall('beginPasskey');
export const finishPasskey = lazyCall('finishPasskey');
export const removePasskey = lazyCall('removePasskey');
export const beginLogin = lazyCall('beginLogin');
export const finishLogin = lazyCall('finishLogin');
