import { parseNumber, type PhoneNumber } from './checks';
import { encodePart } from './email';
import { problems } from './messages';
import { type Filled, unlessFaulty, type Written } from './written';

/**
 * A `tel:` URI (RFC 3966). A short code has no `phone-context`, which the standard asks of it: phones
 * dial the digits alone, wherever they are.
 */
export function writePhone({ number }: Filled<'number'>): Written<'number'> {
  const parsed = parseNumber(number);
  return unlessFaulty({ number: parsed ? undefined : problems.number }, () => {
    const extension = parsed?.extension ? `;ext=${parsed.extension}` : '';
    return `tel:${parsed?.number ?? ''}${extension}`;
  });
}

export type SmsField = 'number' | 'message';

/** An `sms:` URI (RFC 5724) with what is to be sent. */
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
