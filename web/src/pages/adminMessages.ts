/** Texts of the page for administrators until its parts have loaded. */
export const messages = {
  title: 'Administration',
  description: 'Reports, links, accounts and the state of this site, for its administrators.',
  loading: 'Loading the administration',
  loadFailed: 'The administration did not load.',
};
