/** A bare import(), because the build makes any call chained to it part of the import. */
export const loadBatch = () => import('./BatchPanel');
