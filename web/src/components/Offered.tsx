import { createElement, type ReactNode } from 'react';
import { hasGuestLinks, registration } from '../lib/config';

/** What an instance offers to strangers. */
const offers = {
  registration: () => registration() === 'open',
  'guest-links': hasGuestLinks,
  'no-guest-links': () => !hasGuestLinks(),
};
export type Offer = keyof typeof offers;

interface OfferedProps {
  /** Offers, separated by spaces, all of which the instance must have. */
  where: Offer | `${Offer} ${Offer}`;
  /** Whether to show the children to this visitor, whatever strangers are offered. */
  override?: boolean | undefined;
  children: ReactNode;
}

/**
 * Shows its children where the instance offers something.
 *
 * Prerendered documents contain the children in any case, in an element that web/build/prerender.ts
 * replaces by marks. The server leaves out those that do not apply before anybody sees them.
 */
export function Offered({ where, override, children }: OfferedProps): ReactNode {
  if (import.meta.env.SSR) return createElement('offered-part', { where }, children);
  const names = where.split(' ') as Offer[];
  return (override ?? names.every((name) => offers[name]())) ? children : null;
}
