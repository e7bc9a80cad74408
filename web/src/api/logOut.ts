/** Logging out: in this browser at once, and on the server as soon as it answers. */
import { endedSessions, forgetEnded, keepEnded } from '../lib/endedSessions';
import { currentSession, endSession, type Session } from '../lib/session';
import { failureCode, lazyCall } from './index';
import { untilAnswered } from './untilAnswered';

/** Milliseconds after which every session has expired. */
const LIFETIME = 4 * 3_600_000;

const endOwnSession = lazyCall('endOwnSession');
const sending = new Set<string>();

/** Ends the current session. */
export function logOut(): void {
  const session = currentSession();
  if (session) keepEnded(session);
  endSession();
  endOnServer();
}

/**
 * Ends sessions on the server that the user has ended here, also before this page was loaded.
 *
 * Each is tried until the server has answered or the session has expired.
 */
export function endOnServer(): void {
  for (const session of endedSessions()) {
    if (!sending.has(session.token)) void end(session);
  }
}

async function end({ token, expirationTimestamp }: Session): Promise<void> {
  const remaining = Math.min(expirationTimestamp - Date.now(), LIFETIME);
  sending.add(token);
  try {
    const signal = AbortSignal.timeout(Math.max(remaining, 0));
    await untilAnswered(() => endOwnSession(token), { signal });
  } catch (error) {
    if (failureCode(error) !== 'invalid-token') console.error(error);
  }
  sending.delete(token);
  forgetEnded(token);
}
