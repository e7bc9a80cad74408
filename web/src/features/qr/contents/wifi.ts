import { bytes } from './checks';
import { problems } from './messages';
import { type Filled, TICKED, unlessFaulty, type Written } from './written';

export type WifiField = 'network' | 'security' | 'password' | 'hidden';

/** Security types, as the format names them. WPA stands for WPA2 and WPA3, too. */
export const WPA = 'WPA';
export const WEP = 'WEP';
export const OPEN = 'nopass';

/** Limits of IEEE 802.11 for a network name, and for a passphrase that yields a WPA key. */
const MAX_NAME_BYTES = 32;
const MIN_PASSPHRASE_BYTES = 8;
const MAX_PASSPHRASE_BYTES = 63;

/** Raw keys: WPA, 64 hexadecimal digits; WEP, 40 or 104 bits as text or hexadecimal digits. */
const WPA_KEY = /^[0-9a-f]{64}$/i;
const WEP_KEY = /^(?:.{5}|.{13}|[0-9a-f]{10}|[0-9a-f]{26})$/isu;

/**
 * Writes a network in the format of ZXing, which phones have adopted:
 * `WIFI:T:WPA;S:<name>;P:<password>;H:true;;`.
 *
 * Does not quote a name of hexadecimal digits, as ZXing does for its own app on Android up to 4. No
 * current phone needs the quotation marks, and iPhones take them as part of the name
 * (Shane32/QRCoder, issue 440).
 */
export function writeWifi(filled: Filled<WifiField>): Written<WifiField> {
  const { network, security, password, hidden } = filled;
  const faults = { network: nameFault(network), password: passwordFault(security, password) };
  return unlessFaulty(faults, () => {
    const parts = [`T:${security}`, `S:${escape(network)}`];
    if (security !== OPEN) parts.push(`P:${escape(password)}`);
    if (hidden === TICKED) parts.push('H:true');
    return `WIFI:${parts.join(';')};;`;
  });
}

function escape(text: string): string {
  return text.replace(/[\\;,":]/g, '\\$&');
}

function nameFault(name: string): string | undefined {
  if (name === '') return problems.network;
  const length = bytes(name);
  if (length <= MAX_NAME_BYTES) return undefined;
  return problems.longNetwork(length, MAX_NAME_BYTES);
}

function passwordFault(security: string, password: string): string | undefined {
  if (security === OPEN) return undefined;
  if (password === '') return problems.networkPassword;
  if (security === WEP) {
    if (WEP_KEY.test(password)) return undefined;
    return problems.wepKey;
  }
  const length = bytes(password);
  const fits = length >= MIN_PASSPHRASE_BYTES && length <= MAX_PASSPHRASE_BYTES;
  if (fits || WPA_KEY.test(password)) return undefined;
  return problems.wpaPassword(MIN_PASSPHRASE_BYTES, MAX_PASSPHRASE_BYTES);
}
