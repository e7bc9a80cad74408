/** Bare, because what is chained to an import() here becomes a part of it in the build. */
export const loadAsking = () => import('./asking');
