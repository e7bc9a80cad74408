import { useEffect, useState } from 'react';
import { isCode } from '../../../lib/codes';
import { domainOf, origins, publicUrl } from '../../../lib/config';
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
  const { code, domain } = partsOf(short);
  const isAsked = code !== null && owner.kind !== 'nobody';

  useEffect(() => {
    if (!isAsked) return undefined;
    let current = true;
    const ask = async () => {
      try {
        const { askAs } = await loadAsking();
        const owners = owner.kind === 'account' && guest ? [owner, guest] : [owner];
        const url = await askAs(owners, code, domain);
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
  }, [isAsked, code, domain, short, owner, guest, attempt]);

  if (!isAsked) return { state: 'none' };
  if (answer?.shortUrl === short) {
    return answer.url === null ? { state: 'none' } : { state: 'made', short, url: answer.url };
  }
  if (failed === attempt) return { state: 'failed', short, again: () => setAttempt(attempt + 1) };
  return { state: 'asking' };
}

/** Returns the code and the domain of a short URL of this instance; null for what is not one. */
function partsOf(address: string): { code: string | null; domain: string } {
  const origin = origins().find((each) => address.startsWith(`${each}/`)) ?? publicUrl();
  const code = address.slice(origin.length + 1);
  return {
    code: address.startsWith(`${origin}/`) && isCode(code) ? code : null,
    domain: domainOf(origin),
  };
}
