import { VisuallyHidden } from './VisuallyHidden';

/** Announced politely whenever it changes. */
export function LiveText({ children }: { children: string }) {
  return (
    <VisuallyHidden role="status" aria-live="polite">
      {children}
    </VisuallyHidden>
  );
}
