import { ToastContainer } from 'react-toastify/unstyled';
import 'react-toastify/ReactToastify.css';
import './ToastHost.css';

export { toast } from 'react-toastify/unstyled';

export function ToastHost() {
  return <ToastContainer position="bottom-right" autoClose={4000} limit={3} newestOnTop={false} />;
}
