import type { ReactNode } from 'react';
import { formatNumber } from '../lib/format';
import { Button } from './Button';
import { Dialog, DialogActions } from './Dialog';

interface RemoveDialogProps {
  /** What is removed, in a few words. */
  what: ReactNode;
  /** Links that are to be removed. */
  count: number;
  /** Those of them that have a scan code, which may be on paper. */
  printed: number;
  children?: ReactNode;
  onClose: () => void;
  onRemove: () => void;
}

/** Asks once more before links are removed. */
export function RemoveDialog(props: RemoveDialogProps) {
  const { what, count, printed, children, onClose, onRemove } = props;
  return (
    <Dialog title={<>Remove {what}?</>} onClose={onClose}>
      {printed > 0 && <p>Printed codes of {whose(count, printed)} will stop working.</p>}
      {children}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button look="sign" onClick={onRemove}>
          Remove
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function whose(count: number, printed: number): string {
  if (count === 1) return 'this link';
  return printed === count ? 'these links' : `${formatNumber(printed)} of these links`;
}
