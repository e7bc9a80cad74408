import { useAnnouncements } from '../lib/announce';
import { VisuallyHidden } from './VisuallyHidden';

/** The live region for announcements to screen readers. The frame has one. */
export function Announcer() {
  const announcements = useAnnouncements();
  return (
    <VisuallyHidden role="status" aria-live="polite" aria-atomic="false" aria-relevant="additions">
      {announcements.map(({ id, text }) => (
        <span key={id}>{text} </span>
      ))}
    </VisuallyHidden>
  );
}
