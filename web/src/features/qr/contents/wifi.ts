import { bytes } from './checks';
import { problems } from './messages';
import { type Filled, TICKED, unlessFaulty, type Written } from './written';

export type WifiField = 'network' | 'security' | 'password' | 'hidden';

/** What a network asks for, by the names of the format. WPA stands for WPA2 and WPA3, too. */
export const WPA = 'WPA';
export const WEP = 'WEP';
export const OPEN = 'nopass';

/** IEEE 802.11: bytes of a network's name, and of what is derived into a WPA key. */
const LONGEST_NAME = 32;
const SHORTEST_PASSPHRASE = 8;
const LONGEST_PASSPHRASE = 63;

/** Keys as they are: 64 hexadecimal digits of WPA; 40 or 104 bits of WEP, as text or as digits. */
const WPA_KEY = /^[0-9a-f]{64}$/i;
const WEP_KEY = /^(?:.{5}|.{13}|[0-9a-f]{10}|[0-9a-f]{26})$/isu;

/**
 * A network to join, in the format of ZXing, which phones have taken over:
 * `WIFI:T:WPA;S:<name>;P:<password>;H:true;;`.
 *
 * ZXing also puts a name of nothing but hexadecimal digits into quotation marks, for its own app of
 * Android up to 4. No phone of today needs them, and iPhones take them for a part of the name
 * (Shane32/QRCoder, issue 440): there are none.
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
  if (length <= LONGEST_NAME) return undefined;
  return problems.longNetwork(length, LONGEST_NAME);
}

function passwordFault(security: string, password: string): string | undefined {
  if (security === OPEN) return undefined;
  if (password === '') return problems.networkPassword;
  if (security === WEP) {
    if (WEP_KEY.test(password)) return undefined;
    return problems.wepKey;
  }
  const length = bytes(password);
  const fits = length >= SHORTEST_PASSPHRASE && length <= LONGEST_PASSPHRASE;
  if (fits || WPA_KEY.test(password)) return undefined;
  return problems.wpaPassword(SHORTEST_PASSPHRASE, LONGEST_PASSPHRASE);
}
