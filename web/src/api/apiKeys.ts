/** Calls of API keys, separate from the other calls, which load with every page. */
import { lazyCall } from './index';

export const createKey = lazyCall('createKey');
export const listKeys = lazyCall('listKeys');
export const revokeKey = lazyCall('revokeKey');
