import { useEffectEvent, useId, useLayoutEffect, useRef, type ReactNode } from 'react';
import styles from './Dialog.module.css';

interface DialogProps {
  title: ReactNode;
  /** Called on Escape and on a click on the backdrop. */
  onClose: () => void;
  children: ReactNode;
}

/**
 * A modal dialog, open while it is mounted.
 *
 * The browser keeps the focus inside. On closing, the focus returns to where it was.
 */
export function Dialog({ title, onClose, children }: DialogProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const close = useEffectEvent(onClose);

  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return undefined;
    const before = document.activeElement;
    element.showModal();
    document.documentElement.dataset['locked'] = '';

    // The dialog has no padding around its box: a click on the dialog itself is one on its
    // backdrop.
    const onClick = ({ target }: MouseEvent) => {
      if (target === element) close();
    };
    const onCancel = (event: Event) => {
      event.preventDefault();
      close();
    };
    element.addEventListener('click', onClick);
    element.addEventListener('cancel', onCancel);
    return () => {
      element.removeEventListener('click', onClick);
      element.removeEventListener('cancel', onCancel);
      delete document.documentElement.dataset['locked'];
      element.close();
      if (before instanceof HTMLElement && before.isConnected)
        before.focus({ preventScroll: true });
    };
  }, []);

  return (
    <dialog ref={dialog} className={styles.dialog} aria-labelledby={id}>
      <div className={styles.box}>
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

/** The buttons at the end of a dialog. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className={styles.actions}>{children}</div>;
}
