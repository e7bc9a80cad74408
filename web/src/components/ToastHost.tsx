import type { MouseEvent } from 'react';
import { toast, ToastContainer } from 'react-toastify/unstyled';
import 'react-toastify/ReactToastify.css';
import './ToastHost.css';
import { messages } from './lateMessages';
import { TextButton } from './TextButton';

export interface ToastAction {
  text: string;
  onChoose: () => void;
}

/**
 * Milliseconds for which a toast with an action stays: enough to read it and to reach the action.
 */
const ACTION_DURATION = 10_000;

export function ToastHost() {
  return (
    <ToastContainer
      position="bottom-right"
      autoClose={4000}
      limit={3}
      newestOnTop={false}
      hideProgressBar
      closeButton={CloseButton}
      aria-label={messages.notifications}
    />
  );
}

/** The library's own button has an English label. */
function CloseButton({ closeToast }: { closeToast: (event: MouseEvent) => void }) {
  return (
    <button
      type="button"
      className="Toastify__close-button Toastify__close-button--light"
      aria-label={messages.close}
      onClick={closeToast}
    >
      <svg aria-hidden="true" viewBox="0 0 14 14">
        <path d="M2 2l10 10M12 2L2 12" stroke="currentColor" strokeWidth="2" />
      </svg>
    </button>
  );
}

export function showError(message: string): void {
  toast.error(message);
}

/** Shows that something was done. */
export function showDone(message: string): void {
  toast(message, { role: 'status' });
}

/**
 * Shows that something was done, with an action such as undo. Alt+T moves the keyboard focus there.
 */
export function showOffer(message: string, { text, onChoose }: ToastAction): void {
  toast(
    ({ closeToast }) => (
      <span className="offer">
        <span>{message}</span>
        <TextButton
          variant="primary"
          onClick={() => {
            closeToast();
            onChoose();
          }}
        >
          {text}
        </TextButton>
      </span>
    ),
    { autoClose: ACTION_DURATION, role: 'status', closeOnClick: false },
  );
}
