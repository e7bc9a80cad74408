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
import styles from './SelectionBar.module.css';
import { list, messages } from './messages';
import { TagDialog } from './TagDialog';

/** Maximum links that are removed without confirmation: as many as one sees at a glance. */
const MAX_UNCONFIRMED = 10;

interface SelectionBarProps {
  owner: Owner;
  state: LinkState | null;
  /** Number of links, including those that are not selectable. */
  total: number;
  selectable: readonly Link[];
  selected: readonly Link[];
  onSelect: (links: readonly Link[]) => void;
}

/** The number of links, and the actions for selected ones. */
export function SelectionBar({
  owner,
  state,
  total,
  selectable,
  selected,
  onSelect,
}: SelectionBarProps) {
  const [open, setOpen] = useState<'tag' | 'remove' | null>(null);
  const printed = selected.filter((link) => knownScanCode(owner, link) !== undefined).length;
  const asks = selected.length > MAX_UNCONFIRMED || printed > 0;

  const removeSelected = async () => {
    setOpen(null);
    onSelect([]);
    const removed = new Set(await remove(owner, selected));
    if (removed.size === 0) return;
    const undo = () =>
      void restore(
        owner,
        selected.filter(({ code }) => removed.has(code)),
      );
    offerToast(list.removedCount(removed.size), { text: actions.undo, onChoose: undo });
  };
  const restoreSelected = () => {
    onSelect([]);
    void restore(owner, selected);
  };

  return (
    <div className={styles.bar}>
      <Checkbox
        label={
          <span>
            {selected.length === 0 ? list.count(total) : list.selectedOf(selected.length, total)}
          </span>
        }
        aria-label={list.selectAll(selectable.length)}
        checked={selected.length > 0 && selected.length === selectable.length}
        ref={(box) => {
          if (box) box.indeterminate = selected.length > 0 && selected.length < selectable.length;
        }}
        disabled={selectable.length === 0}
        onChange={({ target }) => onSelect(target.checked ? selectable : [])}
      />
      {selected.length > 0 && (
        <div className={styles.actions} role="group" aria-label={list.selected}>
          <TextButton variant="primary" onClick={() => setOpen('tag')}>
            {list.tag}
          </TextButton>
          {state === 'removed' ? (
            <TextButton variant="primary" onClick={restoreSelected}>
              {messages.restore}
            </TextButton>
          ) : (
            <TextButton
              variant="primary"
              onClick={() => {
                if (asks) setOpen('remove');
                else void removeSelected();
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
          links={selected}
          onClose={() => setOpen(null)}
          onTagged={() => setOpen(null)}
        />
      )}
      {open === 'remove' && (
        <RemoveDialog
          what={list.count(selected.length)}
          count={selected.length}
          printed={printed}
          onClose={() => setOpen(null)}
          onRemove={() => void removeSelected()}
        >
          {selected.length > MAX_UNCONFIRMED && <p>{list.removeHint}</p>}
        </RemoveDialog>
      )}
    </div>
  );
}
