import type { HTMLInputAutoCompleteAttribute } from 'react';
import { formatZone } from '../../../lib/format';
import { VCARD_3, VCARD_4, writeContact } from './contact';
import { writeEmail } from './email';
import { type EventField, type EventOrigin, LAST_DAY, startOf, writeEvent } from './event';
import { splitPair, writeLocation } from './location';
import { fields, messages, problems } from './messages';
import { withoutTrailingBreaks } from './pasted';
import { writePhone, writeSms } from './phone';
import { OPEN, WEP, WPA, writeWifi } from './wifi';
import { type Filled, TICKED, unlessFaulty, type Written } from './written';

interface Shared<Field extends string> {
  field: Field;
  label: string;
  /** Whether to show the field; always if missing. */
  when?: (filled: Filled<Field>) => boolean;
}

/** A field of a form: one line, several lines, a choice or a checkbox. */
export type Entry<Field extends string> = Shared<Field> &
  (
    | {
        as: 'line';
        type?: 'text' | 'email' | 'tel' | 'url' | 'date' | 'time';
        /** A short field: two are side by side if there is room. */
        half?: boolean;
        placeholder?: string;
        inputMode?: 'url';
        /** The last valid day. */
        max?: string;
        autoComplete?: HTMLInputAutoCompleteAttribute;
        /** No automatic capitalization or spelling correction: network names, addresses. */
        literal?: boolean;
      }
    | { as: 'lines' }
    | { as: 'choice'; options: readonly { value: string; text: string }[] }
    | { as: 'tick' }
  );

/** A kind of content: its form, and the function that writes its text. */
export interface Kind<Field extends string> {
  entries: readonly Entry<Field>[];
  blank: Filled<Field>;
  /** Writes the text of the code. Only events use `origin`. */
  write(filled: Filled<Field>, origin: EventOrigin): Written<Field>;
  /** Normalizes the values when a field loses the focus. */
  tidy?(filled: Filled<Field>): Filled<Field>;
  /** Returns a note below the fields. */
  note?(filled: Filled<Field>): string;
}

/** Messages while a form is incomplete. */
export interface FormWords {
  /** Shown when the user tries to save the code. */
  refused: string;
  /** Shown in place of the code. */
  empty: string;
}

export type KindName =
  'text' | 'wifi' | 'contact' | 'email' | 'phone' | 'sms' | 'event' | 'location';

/** Names of the kinds. A link has no form: it is the text of the page's URL field. */
const types: Record<KindName | 'link', string> = messages.types;

export const choices = Object.entries(types).map(([value, text]) => ({
  value: value as KindName | 'link',
  text,
}));

/** Creates a kind. Its fields are empty at first; choices have their first option. */
function kind<const Field extends string>(
  entries: readonly Entry<Field>[],
  rest: Omit<Kind<Field>, 'entries' | 'blank'>,
): Kind<Field> {
  const first = (entry: Entry<Field>) =>
    entry.as === 'choice' ? (entry.options[0]?.value ?? '') : '';
  const blank = Object.fromEntries(entries.map((entry) => [entry.field, first(entry)]));
  return { entries, blank: blank as Filled<Field>, ...rest };
}

const phone = {
  as: 'line',
  type: 'tel',
  label: fields.number,
  placeholder: '+34 600 123 456',
  autoComplete: 'off',
} as const;

const day = { as: 'line', half: true, type: 'date', max: LAST_DAY } as const;

export const kinds: Readonly<Record<KindName, Kind<string>>> = {
  text: kind([{ field: 'text', label: fields.text, as: 'lines' }], {
    write: ({ text }) =>
      unlessFaulty({ text: text.trim() === '' ? problems.text : undefined }, () =>
        withoutTrailingBreaks(text),
      ),
  }),

  wifi: kind(
    [
      { field: 'network', label: fields.network, as: 'line', literal: true },
      {
        field: 'security',
        label: fields.security,
        as: 'choice',
        options: [
          { value: WPA, text: fields.wpa },
          { value: WEP, text: fields.wep },
          { value: OPEN, text: fields.open },
        ],
      },
      {
        field: 'password',
        label: fields.password,
        as: 'line',
        literal: true,
        when: ({ security }) => security !== OPEN,
      },
      { field: 'hidden', label: fields.hidden, as: 'tick' },
    ],
    { write: writeWifi },
  ),

  contact: kind(
    [
      {
        field: 'given',
        label: fields.firstName,
        as: 'line',
        half: true,
        autoComplete: 'given-name',
      },
      {
        field: 'family',
        label: fields.lastName,
        as: 'line',
        half: true,
        autoComplete: 'family-name',
      },
      {
        field: 'organization',
        label: fields.organization,
        as: 'line',
        autoComplete: 'organization',
      },
      { field: 'title', label: fields.jobTitle, as: 'line', autoComplete: 'organization-title' },
      { field: 'phone', label: fields.phone, as: 'line', type: 'tel', autoComplete: 'tel' },
      {
        field: 'email',
        label: fields.email,
        as: 'line',
        type: 'email',
        autoComplete: 'email',
        literal: true,
      },
      {
        field: 'website',
        label: fields.website,
        as: 'line',
        inputMode: 'url',
        autoComplete: 'url',
        literal: true,
      },
      { field: 'street', label: fields.street, as: 'line', autoComplete: 'street-address' },
      {
        field: 'postcode',
        label: fields.postcode,
        as: 'line',
        half: true,
        autoComplete: 'postal-code',
      },
      { field: 'city', label: fields.city, as: 'line', half: true, autoComplete: 'address-level2' },
      {
        field: 'region',
        label: fields.region,
        as: 'line',
        half: true,
        autoComplete: 'address-level1',
      },
      {
        field: 'country',
        label: fields.country,
        as: 'line',
        half: true,
        autoComplete: 'country-name',
      },
      { field: 'note', label: fields.note, as: 'lines' },
      {
        field: 'version',
        label: fields.format,
        as: 'choice',
        options: [
          { value: VCARD_4, text: fields.vCard4 },
          { value: VCARD_3, text: fields.vCard3 },
        ],
      },
    ],
    { write: writeContact },
  ),

  email: kind(
    [
      { field: 'address', label: fields.to, as: 'line', type: 'email', literal: true },
      { field: 'subject', label: fields.subject, as: 'line' },
      { field: 'body', label: fields.message, as: 'lines' },
    ],
    { write: writeEmail },
  ),

  phone: kind([{ field: 'number', ...phone }], { write: writePhone }),

  sms: kind(
    [
      { field: 'number', ...phone },
      { field: 'message', label: fields.message, as: 'lines' },
    ],
    { write: writeSms },
  ),

  event: kind(
    [
      { field: 'title', label: fields.title, as: 'line' },
      { field: 'allDay', label: fields.allDay, as: 'tick' },
      { field: 'startDay', label: fields.startDate, ...day },
      {
        field: 'startTime',
        label: fields.startTime,
        as: 'line',
        half: true,
        type: 'time',
        when: hasTimes,
      },
      { field: 'endDay', label: fields.endDate, ...day },
      {
        field: 'endTime',
        label: fields.endTime,
        as: 'line',
        half: true,
        type: 'time',
        when: hasTimes,
      },
      { field: 'place', label: fields.place, as: 'line' },
      { field: 'description', label: fields.description, as: 'lines' },
    ],
    {
      write: writeEvent,
      note: noteOfEvent,
    },
  ),

  location: kind(
    [
      {
        field: 'latitude',
        label: fields.latitude,
        as: 'line',
        half: true,
        placeholder: '40.4168',
        literal: true,
      },
      {
        field: 'longitude',
        label: fields.longitude,
        as: 'line',
        half: true,
        placeholder: '-3.7038',
        literal: true,
      },
    ],
    { write: writeLocation, tidy: splitPair },
  ),
};

/** Returns the time zone at the start of the event, because of daylight saving time. */
function noteOfEvent(filled: Filled<EventField>): string {
  if (!hasTimes(filled)) return fields.allDayNote;
  const zone = formatZone(startOf(filled) ?? new Date());
  return fields.timeNote(zone);
}

function hasTimes({ allDay }: Filled<'allDay'>): boolean {
  return allDay !== TICKED;
}
