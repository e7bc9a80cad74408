/** Calls of recovery codes, separate from the other calls, which load with every page. */
import { lazyCall } from './index';

export const createRecoveryCodes = lazyCall('createRecoveryCodes');
export const countRecoveryCodes = lazyCall('countRecoveryCodes');
export const resetPassword = lazyCall('resetPassword');
