import type { ReactNode } from 'react';
import { Button } from './Button';
import { Dialog, DialogActions } from './Dialog';
import { messages } from './lateMessages';
import { actions } from './messages';

interface RemoveDialogProps {
  /** What is removed, in a few words. */
  what: ReactNode;
  /** Number of links to remove. */
  count: number;
  /** Number of them that have a scan code, which may be printed. */
  printed: number;
  children?: ReactNode;
  onClose: () => void;
  onRemove: () => void;
}

/** Asks for confirmation before links are removed. */
export function RemoveDialog(props: RemoveDialogProps) {
  const { what, count, printed, children, onClose, onRemove } = props;
  return (
    <Dialog title={messages.removeQuestion(what)} onClose={onClose}>
      {printed > 0 && <p>{messages.printedCodes(count, printed)}</p>}
      {children}
      <DialogActions>
        <Button onClick={onClose}>{actions.cancel}</Button>
        <Button variant="primary" onClick={onRemove}>
          {actions.remove}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
