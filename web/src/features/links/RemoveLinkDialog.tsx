import { RemoveDialog } from '../../components/RemoveDialog';
import { ShortAddress } from '../../components/ShortAddress';

interface RemoveLinkDialogProps {
  code: string;
  onClose: () => void;
  onRemove: () => void;
}

/** Asks once more before a link is removed that has a scan code. */
export function RemoveLinkDialog({ code, onClose, onRemove }: RemoveLinkDialogProps) {
  return (
    <RemoveDialog
      what={<ShortAddress code={code} />}
      count={1}
      printed={1}
      onClose={onClose}
      onRemove={onRemove}
    />
  );
}
