/** Calls of imports, separate from the other calls, which load with every page. */
import { lazyCall } from './index';

export const checkImport = lazyCall('checkImport');
export const importLinks = lazyCall('importLinks');
export const undoImport = lazyCall('undoImport');
export const listImports = lazyCall('listImports');
