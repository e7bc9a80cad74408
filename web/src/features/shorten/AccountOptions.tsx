import { useImperativeHandle, useRef, useState, type Ref } from 'react';
import { DomainSelect } from '../../components/DomainSelect';
import { hasFurtherDomains } from '../../lib/config';
import { Ending, point, type EndingHandle } from './Ending';
import { messages } from './messages';
import type { Choice } from './useShortening';

/** Methods of the options for the shortener. */
export interface AccountOptionsHandle {
  /** Returns what was chosen. For an invalid ending, moves the focus to it and returns null. */
  take: () => Choice | null;
  /** Says at its field what the server refused, and moves the focus there. */
  refuse: (refused: 'taken' | 'unlisted') => void;
  /** Clears what applies to one link only. */
  clear: () => void;
}

/** The ending and the domain of a new link. They load with Customize, for accounts only. */
export function AccountOptions({ ref }: { ref: Ref<AccountOptionsHandle> }) {
  const ending = useRef<EndingHandle>(null);
  const field = useRef<HTMLDivElement>(null);
  const [domain, setDomain] = useState<string>();
  /** The domain that the server refused, and how often, so that each time is announced. */
  const [refused, setRefused] = useState<{ domain: string | undefined; attempt: number }>();

  useImperativeHandle(ref, () => ({
    take: () => {
      const taken = ending.current?.take() ?? null;
      return taken === null ? null : { ending: taken, domain };
    },
    refuse: (what) => {
      if (what === 'taken') {
        ending.current?.refuse();
        return;
      }
      setRefused((last) => ({ domain, attempt: (last?.attempt ?? 0) + 1 }));
      point(field.current);
    },
    clear: () => ending.current?.clear(),
  }));

  return (
    <>
      <Ending ref={ending} domain={domain} />
      {hasFurtherDomains() && (
        <div ref={field}>
          <DomainSelect
            value={domain}
            onChange={setDomain}
            {...(refused?.domain === domain &&
              refused && { error: messages.unlisted, attempt: refused.attempt })}
          />
        </div>
      )}
    </>
  );
}
