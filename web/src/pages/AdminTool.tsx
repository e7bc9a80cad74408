import { Administration } from '../features/administration/Administration';
import { Warnings } from '../features/preview/Warnings';
import { ConfirmDialog } from '../features/session/ConfirmDialog';
import type { Account } from '../lib/owner';

interface AdminToolProps {
  account: Account;
  onRefused: () => void;
}

/** The tool of administrators with the parts of other features that it shows. */
export function AdminTool({ account, onRefused }: AdminToolProps) {
  return (
    <Administration
      account={account}
      Confirm={ConfirmDialog}
      Warnings={Warnings}
      onRefused={onRefused}
    />
  );
}
