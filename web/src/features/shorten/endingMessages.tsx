/** Texts of the field for a custom ending, which loads for accounts only. */
import type { ReactNode } from 'react';
import type { EndingProblem } from './endings';

export const messages = {
  ending: 'Custom ending',
  rule: '4–32 letters, digits, hyphens or underscores. Case-sensitive.',
  reserved: 'This ending is reserved.',
  length: 'Enter 4 to 32 characters.',
  letters: 'Use only the letters A to Z, digits, hyphens and underscores.',
  unknown: 'Could not check whether this ending is available.',
  available: (url: ReactNode) => <>{url} is available.</>,
} satisfies Record<EndingProblem, string> & Record<string, unknown>;
