/** Loads the names of hosts and apps, which few pages need. */
export const loadHosts = () => import('./hosts');
