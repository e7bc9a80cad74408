/** The calls of imports, apart from the others, which come with every page. */
import { later } from './index';

export const checkImport = later('checkImport');
export const importLinks = later('importLinks');
export const undoImport = later('undoImport');
export const listImports = later('listImports');
