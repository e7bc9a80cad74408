import { parseNumber, type PhoneNumber } from './checks';
import { encodePart } from './email';
import { problems } from './messages';
import { type Filled, unlessFaulty, type Written } from './written';

/**
 * Writes a `tel:` URI (RFC 3966). Omits the `phone-context` of a short code, although the standard
 * requires it: phones dial only the digits, wherever they are.
 */
export function writePhone({ number }: Filled<'number'>): Written<'number'> {
  const parsed = parseNumber(number);
  return unlessFaulty({ number: parsed ? undefined : problems.number }, () => {
    const extension = parsed?.extension ? `;ext=${parsed.extension}` : '';
    return `tel:${parsed?.number ?? ''}${extension}`;
  });
}

export type SmsField = 'number' | 'message';

/** Writes an `sms:` URI (RFC 5724) with a message. */
export function writeSms({ number, message }: Filled<SmsField>): Written<SmsField> {
  const parsed = parseNumber(number);
  return unlessFaulty({ number: smsFault(parsed) }, () => {
    const body = message === '' ? '' : `?body=${encodePart(message)}`;
    return `sms:${parsed?.number ?? ''}${body}`;
  });
}

function smsFault(parsed: PhoneNumber | null): string | undefined {
  if (parsed === null) return problems.number;
  return parsed.extension === '' ? undefined : problems.extension;
}
