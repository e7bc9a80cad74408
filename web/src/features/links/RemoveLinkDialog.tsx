import { RemoveDialog } from '../../components/RemoveDialog';
import { ShortAddress } from '../../components/ShortAddress';

interface RemoveLinkDialogProps {
  code: string;
  domain: string | undefined;
  onClose: () => void;
  onRemove: () => void;
}

/** Asks for confirmation before a link with a scan code is removed. */
export function RemoveLinkDialog({ code, domain, onClose, onRemove }: RemoveLinkDialogProps) {
  return (
    <RemoveDialog
      what={<ShortAddress code={code} domain={domain} />}
      count={1}
      printed={1}
      onClose={onClose}
      onRemove={onRemove}
    />
  );
}
