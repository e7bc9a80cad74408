import { useState } from 'react';
import type { Link } from '../../api';
import { Checkbox } from '../../components/Checkbox';
import { FieldError } from '../../components/FieldError';
import { TextButton } from '../../components/TextButton';
import { VisuallyHidden } from '../../components/VisuallyHidden';
import { copyWords, useCopy } from '../../components/useCopy';
import { announce } from '../../lib/announce';
import { publicUrl } from '../../lib/config';
import { linkPath } from '../../lib/edge';
import type { Owner } from '../../lib/owner';
import { useHere } from '../../lib/useHere';
import { change } from './links';
import { notChanged } from './messages';
import styles from './PublicSwitch.module.css';

interface PublicSwitchProps {
  owner: Owner;
  link: Link;
}

/** Whether everybody can see the statistics, and the address at which they do. */
export function PublicSwitch({
  owner,
  link: { code, public_statistics: isPublic },
}: PublicSwitchProps) {
  const [copied, copy] = useCopy();
  /** What the server is being asked for. */
  const [wanted, setWanted] = useState<boolean | null>(null);
  const [failures, setFailures] = useState(0);
  const isHere = useHere();
  const address = publicUrl() + linkPath(code);

  const set = async (shown: boolean) => {
    setWanted(shown);
    setFailures(0);
    try {
      await change(owner, code, { public_statistics: shown });
      announce(shown ? 'Everybody can see the statistics' : 'Only you can see the statistics');
    } catch (error) {
      console.error(error);
      if (isHere()) setFailures(failures + 1);
    } finally {
      if (isHere()) setWanted(null);
    }
  };

  return (
    <div className={styles.switch}>
      <Checkbox
        label="Everybody can see the statistics"
        checked={wanted ?? isPublic}
        aria-busy={wanted !== null || undefined}
        aria-describedby={failures > 0 ? `public-${code}` : undefined}
        onChange={({ target }) => {
          if (wanted === null) void set(target.checked);
        }}
      />
      {isPublic && (
        <p className={styles.address}>
          At{' '}
          <span translate="no">
            {publicUrl()}
            <wbr />
            {linkPath(code)}
          </span>{' '}
          <TextButton look="sign" onClick={() => copy(address)}>
            {copyWords[copied]} <VisuallyHidden>the address of the statistics</VisuallyHidden>
          </TextButton>
        </p>
      )}
      <FieldError
        id={`public-${code}`}
        text={failures > 0 ? notChanged : undefined}
        attempt={failures}
      />
    </div>
  );
}
