import { RemoveDialog } from '../../components/RemoveDialog';
import { ShortAddress } from '../../components/ShortAddress';

interface RemoveLinkDialogProps {
  code: string;
  onClose: () => void;
  onRemove: () => void;
}

/** Asks for confirmation before a link with a scan code is removed. */
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
