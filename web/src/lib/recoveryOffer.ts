/** Whether to offer recovery codes: once, after a registration in this browser. */
import { readItem, removeItem, writeItem } from './storage';

const KEY = 'offerRecoveryCodes';

export function offerRecoveryCodes(): void {
  writeItem(KEY, 'yes');
}

export function isRecoveryOffered(): boolean {
  return readItem(KEY) !== null;
}

export function endRecoveryOffer(): void {
  removeItem(KEY);
}
