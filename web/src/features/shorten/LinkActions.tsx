/** Actions of a guest's link, beside its plate and in its row. */
import { useState } from 'react';
import { Link } from 'react-router-dom';
import type { Link as KnownLink } from '../../api';
import { knownScanCode } from '../../api/scanCodes';
import { actions } from '../../components/messages';
import { RemoveDialog } from '../../components/RemoveDialog';
import { ShortAddress } from '../../components/ShortAddress';
import { TextButton } from '../../components/TextButton';
import { VisuallyHidden } from '../../components/VisuallyHidden';
import { announce } from '../../lib/announce';
import { shortAddress, shortUrl } from '../../lib/config';
import { linkPath } from '../../lib/edge';
import { formatNumber } from '../../lib/format';
import type { Guest } from '../../lib/owner';
import { canShare, share } from '../../lib/share';
import { useHere } from '../../lib/useHere';
import { removeOrRestore } from './guestCache';
import { messages } from './guestMessages';
import styles from './LinkActions.module.css';

interface LinkActionsProps {
  /** The known fields of the link. */
  link: Pick<KnownLink, 'code' | 'scan_code'>;
  guest: Guest;
  onRemoved: () => void;
}

export function LinkActions({ link, guest, onRemoved }: LinkActionsProps) {
  const { code } = link;
  const [busy, change] = useChange(guest, code);
  const [isConfirming, setConfirming] = useState(false);
  const remove = async () => {
    setConfirming(false);
    if (!(await change('remove'))) return;
    announce(messages.removed(shortAddress(code)));
    onRemoved();
  };
  return (
    <>
      {canShare() && (
        <TextButton onClick={() => void share(shortUrl(code))}>
          {actions.share} <Of code={code} />
        </TextButton>
      )}
      <Link className={styles.statistics} to={linkPath(code)}>
        {messages.statistics} <Of code={code} />
      </Link>
      <TextButton
        aria-disabled={busy || undefined}
        onClick={() => {
          if (knownScanCode(guest, link) === undefined) void remove();
          else setConfirming(true);
        }}
      >
        {actions.remove} <Of code={code} />
      </TextButton>
      {isConfirming && (
        <RemoveDialog
          what={<ShortAddress code={code} />}
          count={1}
          printed={1}
          onClose={() => setConfirming(false)}
          onRemove={() => void remove()}
        />
      )}
    </>
  );
}

/** Distinguishes buttons with the same text for screen readers. */
export function Of({ code }: { code: string }) {
  return <VisuallyHidden>{shortAddress(code)}</VisuallyHidden>;
}

interface UndoLineProps {
  code: string;
  guest: Guest;
  onRestored: () => void;
}

/** Replaces a removed link. */
export function UndoLine({ code, guest, onRestored }: UndoLineProps) {
  const [busy, change] = useChange(guest, code);
  const undo = async () => {
    if (!(await change('restore'))) return;
    announce(messages.restored(shortAddress(code)));
    onRestored();
  };
  return (
    <p className={styles.undo}>
      <span>{messages.wasRemoved(<ShortAddress code={code} />)}</span>
      <TextButton variant="primary" aria-disabled={busy || undefined} onClick={() => void undo()}>
        {actions.undo} <Of code={code} />
      </TextButton>
    </p>
  );
}

/** A link to the statistics, such as '1,204 views'. */
export function Views({ code, views }: { code: string; views: number | null }) {
  return (
    <Link className={styles.views} to={linkPath(code)}>
      {views === null ? '–' : formatNumber(views)}{' '}
      <span className={styles.unit}>{messages.views(views ?? 0)}</span>{' '}
      <VisuallyHidden>
        {messages[views === null ? 'viewsUnknownOf' : 'viewsOf'](shortAddress(code))}
      </VisuallyHidden>
    </Link>
  );
}

/** Allows one change of a link at a time, and none after the component was unmounted. */
function useChange(
  guest: Guest,
  code: string,
): [boolean, (change: 'remove' | 'restore') => Promise<boolean>] {
  const [busy, setBusy] = useState(false);
  const isHere = useHere();
  const run = async (change: 'remove' | 'restore') => {
    if (busy) return false;
    setBusy(true);
    const done = await removeOrRestore(guest, code, change);
    if (isHere()) setBusy(false);
    return done;
  };
  return [busy, run];
}
