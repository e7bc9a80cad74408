import { NUMBER_FAULT, parseNumber } from './checks';
import { encodePart } from './email';
import { type Filled, unlessFaulty, type Written } from './written';

/** A `tel:` URI (RFC 3966) of a number that is the same all over the world. */
export function writePhone({ number }: Filled<'number'>): Written<'number'> {
  const parsed = parseNumber(number);
  return unlessFaulty({ number: parsed ? undefined : NUMBER_FAULT }, () => `tel:${parsed ?? ''}`);
}

export type SmsField = 'number' | 'message';

/** An `sms:` URI (RFC 5724) with what is to be sent. */
export function writeSms({ number, message }: Filled<SmsField>): Written<SmsField> {
  const parsed = parseNumber(number);
  return unlessFaulty({ number: parsed ? undefined : NUMBER_FAULT }, () => {
    const body = message === '' ? '' : `?body=${encodePart(message)}`;
    return `sms:${parsed ?? ''}${body}`;
  });
}
