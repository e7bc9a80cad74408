import { useEffect, useState, type ComponentType } from 'react';
import { whenToastsLoad } from './toast';

/** Renders the toasts once their code has loaded. */
export function Toasts() {
  const [Host, setHost] = useState<ComponentType | null>(null);
  useEffect(() => whenToastsLoad(({ ToastHost }) => setHost(() => ToastHost)), []);
  return Host && <Host />;
}
