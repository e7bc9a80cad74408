import type { Access } from '../../api';

/** A link that leads nowhere any more. */
export interface Over {
  message: string;
  /** The operator did it. */
  blocked: boolean;
}

/** What is said of it, to the letter. */
export function overOf({ state, reason }: Access): Over {
  if (state === 'blocked')
    return { message: `This link was blocked: ${reason ?? 'other'}.`, blocked: true };
  const message =
    state === 'removed' ? 'This link was removed by its owner.' : 'This link has ended.';
  return { message, blocked: false };
}
