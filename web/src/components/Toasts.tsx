import { useEffect, useState, type ComponentType } from 'react';
import { whenToastsLoad } from './toast';

/** The place of the toasts in the document. */
export function Toasts() {
  const [Host, setHost] = useState<ComponentType | null>(null);
  useEffect(() => whenToastsLoad(({ ToastHost }) => setHost(() => ToastHost)), []);
  return Host && <Host />;
}
