/** Texts of a short link that redirects, and of one that no longer does. */
import type { ReactNode } from 'react';
import type { BlockReason } from '../../api';

export const messages = {
  title: 'Redirecting...',
  description: 'A short link on the way to its destination.',
  slow: 'Go to the home page',
  expired: 'This link has expired.',
  removed: 'This link was removed by its owner.',
  blocked: (reason: BlockReason) => `This link was blocked: ${reason}.`,
  blockedBy: 'The operator of this site blocked it.',
  appeal: (contact: ReactNode) => <>If you think this is a mistake, write to {contact}.</>,
  goHome: 'GO HOME',
  showPreview: 'Show link preview',
};
