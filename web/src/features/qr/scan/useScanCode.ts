import { useEffect, useState } from 'react';
import { isCode } from '../../../lib/codes';
import { shortUrl } from '../../../lib/config';
import { useGuest, useOwner } from '../../../lib/owner';
import { loadAsking } from './scan';

/** The state of the scan code of the link that the page was opened for. */
export type Scan =
  /** The link does not belong to this visitor. */
  | { state: 'none' }
  | { state: 'asking' }
  /** The code contains `url` instead of `short`, for a smaller symbol. */
  | { state: 'made'; short: string; url: string }
  | { state: 'failed'; short: string; again: () => void };

/** Requests the scan code of the link with this short URL, if it belongs to the visitor. */
export function useScanCode(short: string): Scan {
  const owner = useOwner();
  const guest = useGuest();
  const [attempt, setAttempt] = useState(0);
  const [answer, setAnswer] = useState<{ shortUrl: string; url: string | null }>();
  const [failed, setFailed] = useState<number>();
  const code = codeOf(short);
  const isAsked = code !== null && owner.kind !== 'nobody';

  useEffect(() => {
    if (!isAsked) return undefined;
    let current = true;
    const ask = async () => {
      try {
        const { askAs } = await loadAsking();
        const owners = owner.kind === 'account' && guest ? [owner, guest] : [owner];
        const url = await askAs(owners, code);
        if (current) setAnswer({ shortUrl: short, url });
      } catch (error) {
        console.error('There is no scan code', error);
        if (current) setFailed(attempt);
      }
    };
    void ask();
    return () => {
      current = false;
    };
  }, [isAsked, code, short, owner, guest, attempt]);

  if (!isAsked) return { state: 'none' };
  if (answer?.shortUrl === short) {
    return answer.url === null ? { state: 'none' } : { state: 'made', short, url: answer.url };
  }
  if (failed === attempt) return { state: 'failed', short, again: () => setAttempt(attempt + 1) };
  return { state: 'asking' };
}

/** Returns the code of a short URL of this site; null if it is not one. */
function codeOf(address: string): string | null {
  const before = shortUrl('');
  const code = address.startsWith(before) ? address.slice(before.length) : '';
  return isCode(code) ? code : null;
}
