import { toast, ToastContainer } from 'react-toastify/unstyled';
import 'react-toastify/ReactToastify.css';
import './ToastHost.css';
import { TextButton } from './TextButton';

export interface ToastAction {
  text: string;
  onChoose: () => void;
}

/** Milliseconds for which something can be chosen: enough to read it and get there. */
const CHOOSABLE_FOR = 10_000;

export function ToastHost() {
  return <ToastContainer position="bottom-right" autoClose={4000} limit={3} newestOnTop={false} />;
}

export function showError(message: string): void {
  toast.error(message);
}

/** Says what was done. */
export function showDone(message: string): void {
  toast(message, { role: 'status' });
}

/** Says what was done, with what can be done about it. Alt and T lead a keyboard there. */
export function showOffer(message: string, { text, onChoose }: ToastAction): void {
  toast(
    ({ closeToast }) => (
      <span className="offer">
        <span>{message}</span>
        <TextButton
          look="sign"
          onClick={() => {
            closeToast();
            onChoose();
          }}
        >
          {text}
        </TextButton>
      </span>
    ),
    { autoClose: CHOOSABLE_FOR, role: 'status', closeOnClick: false },
  );
}
