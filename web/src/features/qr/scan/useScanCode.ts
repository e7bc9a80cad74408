import { useEffect, useState } from 'react';
import { isCode } from '../../../lib/codes';
import { shortUrl } from '../../../lib/config';
import { useGuest, useOwner } from '../../../lib/owner';
import { loadAsking } from './scan';

/** What is known of the scan code of the link that a code is made of. */
export type Scan =
  /** The link does not belong to this visitor. */
  | { state: 'none' }
  | { state: 'asking' }
  /** The address that a smaller symbol says in the place of `short`. */
  | { state: 'made'; short: string; url: string }
  | { state: 'failed'; short: string; again: () => void };

/** Asks for the scan code of the link that has this short address, where it is one's own. */
export function useScanCode(short: string): Scan {
  const owner = useOwner();
  const guest = useGuest();
  const [turn, setTurn] = useState(0);
  const [answer, setAnswer] = useState<{ asked: string; url: string | null }>();
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
        if (current) setAnswer({ asked: short, url });
      } catch (error) {
        console.error('There is no scan code', error);
        if (current) setFailed(turn);
      }
    };
    void ask();
    return () => {
      current = false;
    };
  }, [isAsked, code, short, owner, guest, turn]);

  if (!isAsked) return { state: 'none' };
  if (answer?.asked === short) {
    return answer.url === null ? { state: 'none' } : { state: 'made', short, url: answer.url };
  }
  if (failed === turn) return { state: 'failed', short, again: () => setTurn(turn + 1) };
  return { state: 'asking' };
}

/** The code that a short address of the product ends in; null where it is none. */
function codeOf(address: string): string | null {
  const before = shortUrl('');
  const code = address.startsWith(before) ? address.slice(before.length) : '';
  return isCode(code) ? code : null;
}
