import { formatInstant } from '../lib/format';
import { messages } from './lateMessages';

interface Browser {
  /** Empty if unknown, like `system`. */
  browser: string;
  system: string;
}

/** Names the browser of a session, such as 'Firefox on Linux'. */
export function browserName(
  { browser, system }: Browser,
  unknown = messages.unknownBrowser,
): string {
  const name = browser === '' ? unknown : browser;
  return system === '' ? name : messages.browserOn(name, system);
}

/** Returns a text of the session that created something, or none if it is not known. */
export function creatorFacts(creator: (Browser & { created_at: string }) | null): string[] {
  if (creator === null) return [];
  const browser = browserName(creator, messages.anUnknownBrowser);
  return [messages.createdBy(browser, formatInstant(creator.created_at))];
}
