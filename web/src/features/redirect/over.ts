import type { Access } from '../../api';
import { messages } from './messages';

/** A link that no longer redirects. */
export interface Over {
  message: string;
  /** Whether the operator blocked it. */
  blocked: boolean;
}

export function overOf({ state, reason }: Access): Over {
  if (state === 'blocked') return { message: messages.blocked(reason ?? 'other'), blocked: true };
  return { message: state === 'removed' ? messages.removed : messages.expired, blocked: false };
}
