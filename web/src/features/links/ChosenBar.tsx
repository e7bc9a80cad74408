import { useState } from 'react';
import type { Link, LinkState } from '../../api';
import { knownScanCode } from '../../api/scanCodes';
import { Checkbox } from '../../components/Checkbox';
import { actions } from '../../components/messages';
import { RemoveDialog } from '../../components/RemoveDialog';
import { TextButton } from '../../components/TextButton';
import { offerToast } from '../../components/toast';
import type { Owner } from '../../lib/owner';
import { remove, restore } from './changes';
import styles from './ChosenBar.module.css';
import { list, messages } from './messages';
import { TagDialog } from './TagDialog';

/** Maximum links that are removed without confirmation: as many as one sees at a glance. */
const MAX_UNCONFIRMED = 10;

interface ChosenBarProps {
  owner: Owner;
  state: LinkState | null;
  /** Number of links, including those that are not shown. */
  total: number;
  shown: readonly Link[];
  chosen: readonly Link[];
  choose: (links: readonly Link[]) => void;
}

/** The number of links, and the actions for selected ones. */
export function ChosenBar({ owner, state, total, shown, chosen, choose }: ChosenBarProps) {
  const [open, setOpen] = useState<'tag' | 'remove' | null>(null);
  const printed = chosen.filter((link) => knownScanCode(owner, link) !== undefined).length;
  const asks = chosen.length > MAX_UNCONFIRMED || printed > 0;

  const removeChosen = async () => {
    setOpen(null);
    choose([]);
    const removed = new Set(await remove(owner, chosen));
    if (removed.size === 0) return;
    const undo = () =>
      void restore(
        owner,
        chosen.filter(({ code }) => removed.has(code)),
      );
    offerToast(list.removedCount(removed.size), { text: actions.undo, onChoose: undo });
  };
  const restoreChosen = () => {
    choose([]);
    void restore(owner, chosen);
  };

  return (
    <div className={styles.bar}>
      <Checkbox
        label={
          <span>
            {chosen.length === 0 ? list.count(total) : list.selectedOf(chosen.length, total)}
          </span>
        }
        aria-label={list.selectAll(shown.length)}
        checked={chosen.length > 0 && chosen.length === shown.length}
        ref={(box) => {
          if (box) box.indeterminate = chosen.length > 0 && chosen.length < shown.length;
        }}
        disabled={shown.length === 0}
        onChange={({ target }) => choose(target.checked ? shown : [])}
      />
      {chosen.length > 0 && (
        <div className={styles.actions} role="group" aria-label={list.selected}>
          <TextButton look="sign" onClick={() => setOpen('tag')}>
            {list.tag}
          </TextButton>
          {state === 'removed' ? (
            <TextButton look="sign" onClick={restoreChosen}>
              {messages.restore}
            </TextButton>
          ) : (
            <TextButton
              look="sign"
              onClick={() => {
                if (asks) setOpen('remove');
                else void removeChosen();
              }}
            >
              {actions.remove}
            </TextButton>
          )}
        </div>
      )}
      {open === 'tag' && (
        <TagDialog
          owner={owner}
          links={chosen}
          onClose={() => setOpen(null)}
          onTagged={() => setOpen(null)}
        />
      )}
      {open === 'remove' && (
        <RemoveDialog
          what={list.count(chosen.length)}
          count={chosen.length}
          printed={printed}
          onClose={() => setOpen(null)}
          onRemove={() => void removeChosen()}
        >
          {chosen.length > MAX_UNCONFIRMED && <p>{list.removeHint}</p>}
        </RemoveDialog>
      )}
    </div>
  );
}
