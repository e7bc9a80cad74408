import { useMutation } from '@tanstack/react-query';
import type { Link } from '../../api';
import { cache } from '../../api/cache';
import { Checkbox } from '../../components/Checkbox';
import { FieldError } from '../../components/FieldError';
import { TextButton } from '../../components/TextButton';
import { VisuallyHidden } from '../../components/VisuallyHidden';
import { copyWords, useCopy } from '../../components/useCopy';
import { announce } from '../../lib/announce';
import { publicUrl } from '../../lib/config';
import { linkPath } from '../../lib/edge';
import type { Owner } from '../../lib/owner';
import { changeOf } from './changes';
import { details, messages } from './messages';
import styles from './PublicSwitch.module.css';

interface PublicSwitchProps {
  owner: Owner;
  link: Link;
}

/** A checkbox that makes the statistics public, and their public URL. */
export function PublicSwitch({
  owner,
  link: { code, public_statistics: isPublic },
}: PublicSwitchProps) {
  const [copied, copy] = useCopy();
  const { mutate, isPending, isError, variables, submittedAt } = useMutation(
    {
      ...changeOf(owner, code),
      onSuccess: (_data, { public_statistics: shown }) =>
        announce(shown ? details.isPublic : details.isPrivate),
    },
    cache,
  );
  const address = publicUrl() + linkPath(code);

  return (
    <div className={styles.switch}>
      <Checkbox
        label={details.makePublic}
        checked={isPending ? variables.public_statistics === true : isPublic}
        aria-busy={isPending || undefined}
        aria-describedby={isError ? `public-${code}` : undefined}
        onChange={({ target }) => {
          if (!isPending) mutate({ public_statistics: target.checked });
        }}
      />
      {isPublic && (
        <p className={styles.address}>
          {details.publicAt(
            <span translate="no">
              {publicUrl()}
              <wbr />
              {linkPath(code)}
            </span>,
          )}{' '}
          <TextButton variant="primary" onClick={() => copy(address)}>
            {copyWords[copied]} <VisuallyHidden>{details.publicUrl}</VisuallyHidden>
          </TextButton>
        </p>
      )}
      <FieldError
        id={`public-${code}`}
        text={isError ? messages.notSaved : undefined}
        attempt={submittedAt}
      />
    </div>
  );
}
