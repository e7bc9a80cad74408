/** Texts of the components that load with the document, and the names of common actions. */
export const actions = {
  cancel: 'Cancel',
  copy: 'Copy',
  remove: 'Remove',
  share: 'Share',
  showMore: 'Show more',
  tryAgain: 'Try again',
  undo: 'Undo',
};

export const messages = {
  product: 'Atajo',
  wait: 'Please wait',
  copied: 'Copied',
  notCopied: 'Not copied',
  accountFull:
    'Your account has 1,000,000 links, the maximum. Remove some: they make room after 30 days.',
  offline: 'You are offline. This page may be out of date.',
};
