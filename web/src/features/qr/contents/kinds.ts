import type { HTMLInputAutoCompleteAttribute } from 'react';
import { formatZone } from '../../../lib/format';
import { VCARD_3, VCARD_4, writeContact } from './contact';
import { writeEmail } from './email';
import { type EventField, type EventOrigin, LAST_DAY, startOf, writeEvent } from './event';
import { splitPair, writeLocation } from './location';
import { withoutTrailingBreaks } from './pasted';
import { writePhone, writeSms } from './phone';
import { OPEN, WEP, WPA, writeWifi } from './wifi';
import { type Filled, TICKED, unlessFaulty, type Written } from './written';

interface Shared<Field extends string> {
  field: Field;
  label: string;
  /** Where it is of use; everywhere, where this is missing. */
  when?: (filled: Filled<Field>) => boolean;
}

/** A field of a form: one line, several, one of a few, or a box to tick. */
export type Entry<Field extends string> = Shared<Field> &
  (
    | {
        as: 'line';
        type?: 'text' | 'email' | 'tel' | 'url' | 'date' | 'time';
        /** Short: two of them stand beside each other where there is room. */
        half?: boolean;
        placeholder?: string;
        inputMode?: 'url';
        /** The last day that can be chosen. */
        max?: string;
        autoComplete?: HTMLInputAutoCompleteAttribute;
        /** Capitals and spelling are the person's own: names of networks, addresses. */
        literal?: boolean;
      }
    | { as: 'lines' }
    | { as: 'choice'; options: readonly { value: string; text: string }[] }
    | { as: 'tick' }
  );

/** A form and what it writes. */
export interface Kind<Field extends string> {
  /** What it is, in a sentence: 'a network'. */
  what: string;
  entries: readonly Entry<Field>[];
  blank: Filled<Field>;
  /** Takes what was filled in, and of an event what the standard asks beside it. */
  write(filled: Filled<Field>, origin: EventOrigin): Written<Field>;
  /** Puts in order what was filled in, once a field is left. */
  tidy?(filled: Filled<Field>): Filled<Field>;
  /** What should be known of it. */
  note?(filled: Filled<Field>): string;
}

/** What is said while a form is not whole. */
export interface FormWords {
  /** Of a code that is to be saved. */
  refused: string;
  /** In the place of the code. */
  empty: string;
}

export type KindName =
  'text' | 'wifi' | 'contact' | 'email' | 'phone' | 'sms' | 'event' | 'location';

/** What can be chosen; a link is what stands in the page's own field. */
export const choices: readonly { value: KindName | 'link'; text: string }[] = [
  { value: 'link', text: 'Link' },
  { value: 'text', text: 'Text' },
  { value: 'wifi', text: 'Wi-Fi' },
  { value: 'contact', text: 'Contact' },
  { value: 'email', text: 'E-mail' },
  { value: 'phone', text: 'Phone' },
  { value: 'sms', text: 'SMS' },
  { value: 'event', text: 'Event' },
  { value: 'location', text: 'Location' },
];

/** A form whose fields are all empty, but for what is chosen at first. */
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
  label: 'Number',
  placeholder: '+34 600 123 456',
  autoComplete: 'off',
} as const;

const day = { as: 'line', half: true, type: 'date', max: LAST_DAY } as const;

export const kinds: Readonly<Record<KindName, Kind<string>>> = {
  text: kind([{ field: 'text', label: 'Text', as: 'lines' }], {
    what: 'a text',
    write: ({ text }) =>
      unlessFaulty({ text: text.trim() === '' ? 'Enter a text' : undefined }, () =>
        withoutTrailingBreaks(text),
      ),
  }),

  wifi: kind(
    [
      { field: 'network', label: 'Network name', as: 'line', literal: true },
      {
        field: 'security',
        label: 'Security',
        as: 'choice',
        options: [
          { value: WPA, text: 'WPA, WPA2 or WPA3' },
          { value: WEP, text: 'WEP' },
          { value: OPEN, text: 'No password' },
        ],
      },
      {
        field: 'password',
        label: 'Password',
        as: 'line',
        literal: true,
        when: ({ security }) => security !== OPEN,
      },
      { field: 'hidden', label: 'Its name is hidden', as: 'tick' },
    ],
    { what: 'a network', write: writeWifi },
  ),

  contact: kind(
    [
      { field: 'given', label: 'First name', as: 'line', half: true, autoComplete: 'given-name' },
      { field: 'family', label: 'Last name', as: 'line', half: true, autoComplete: 'family-name' },
      { field: 'organization', label: 'Organization', as: 'line', autoComplete: 'organization' },
      { field: 'title', label: 'Job title', as: 'line', autoComplete: 'organization-title' },
      { field: 'phone', label: 'Phone', as: 'line', type: 'tel', autoComplete: 'tel' },
      {
        field: 'email',
        label: 'E-mail',
        as: 'line',
        type: 'email',
        autoComplete: 'email',
        literal: true,
      },
      {
        field: 'website',
        label: 'Website',
        as: 'line',
        inputMode: 'url',
        autoComplete: 'url',
        literal: true,
      },
      { field: 'street', label: 'Street and number', as: 'line', autoComplete: 'street-address' },
      { field: 'postcode', label: 'Postcode', as: 'line', half: true, autoComplete: 'postal-code' },
      { field: 'city', label: 'City', as: 'line', half: true, autoComplete: 'address-level2' },
      { field: 'region', label: 'Region', as: 'line', half: true, autoComplete: 'address-level1' },
      { field: 'country', label: 'Country', as: 'line', half: true, autoComplete: 'country-name' },
      { field: 'note', label: 'Note', as: 'lines' },
      {
        field: 'version',
        label: 'Format',
        as: 'choice',
        options: [
          { value: VCARD_4, text: 'vCard 4.0' },
          { value: VCARD_3, text: 'vCard 3.0, for older phones' },
        ],
      },
    ],
    { what: 'a contact', write: writeContact },
  ),

  email: kind(
    [
      { field: 'address', label: 'To', as: 'line', type: 'email', literal: true },
      { field: 'subject', label: 'Subject', as: 'line' },
      { field: 'body', label: 'Message', as: 'lines' },
    ],
    { what: 'an e-mail address', write: writeEmail },
  ),

  phone: kind([{ field: 'number', ...phone }], { what: 'a phone number', write: writePhone }),

  sms: kind(
    [
      { field: 'number', ...phone },
      { field: 'message', label: 'Message', as: 'lines' },
    ],
    { what: 'a phone number', write: writeSms },
  ),

  event: kind(
    [
      { field: 'title', label: 'Title', as: 'line' },
      { field: 'allDay', label: 'All day', as: 'tick' },
      { field: 'startDay', label: 'Starts on', ...day },
      {
        field: 'startTime',
        label: 'Starts at',
        as: 'line',
        half: true,
        type: 'time',
        when: hasTimes,
      },
      { field: 'endDay', label: 'Ends on', ...day },
      { field: 'endTime', label: 'Ends at', as: 'line', half: true, type: 'time', when: hasTimes },
      { field: 'place', label: 'Place', as: 'line' },
      { field: 'description', label: 'Description', as: 'lines' },
    ],
    {
      what: 'an event',
      write: writeEvent,
      note: noteOfEvent,
    },
  ),

  location: kind(
    [
      {
        field: 'latitude',
        label: 'Latitude',
        as: 'line',
        half: true,
        placeholder: '40.4168',
        literal: true,
      },
      {
        field: 'longitude',
        label: 'Longitude',
        as: 'line',
        half: true,
        placeholder: '-3.7038',
        literal: true,
      },
    ],
    { what: 'a location', write: writeLocation, tidy: splitPair },
  ),
};

/** Its zone is the one of its start: summer time comes and goes. */
function noteOfEvent(filled: Filled<EventField>): string {
  if (!hasTimes(filled)) return 'Whole days are the same days everywhere.';
  const zone = formatZone(startOf(filled) ?? new Date());
  return `By the clock of this device (${zone}). Phones elsewhere show their own time.`;
}

function hasTimes({ allDay }: Filled<'allDay'>): boolean {
  return allDay !== TICKED;
}
