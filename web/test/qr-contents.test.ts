// @vitest-environment node
/** Contents of each kind are read back by a parser of their format. */
import ICAL from 'ical.js';
import { parse as parseVcard4 } from 'vcard4';
import { describe, expect, it, vi } from 'vitest';
import { isAddress, parseNumber } from '../src/features/qr/contents/checks';
import {
  type ContactField,
  VCARD_3,
  VCARD_4,
  writeContact,
} from '../src/features/qr/contents/contact';
import { writeEmail } from '../src/features/qr/contents/email';
import { type EventField, LAST_DAY, writeEvent } from '../src/features/qr/contents/event';
import { choices, kinds } from '../src/features/qr/contents/kinds';
import { joinLines } from '../src/features/qr/contents/lines';
import { splitPair, writeLocation } from '../src/features/qr/contents/location';
import { writePhone, writeSms } from '../src/features/qr/contents/phone';
import { OPEN, WEP, WPA, writeWifi } from '../src/features/qr/contents/wifi';
import type { Filled, Written } from '../src/features/qr/contents/written';

const bytes = (text: string) => new TextEncoder().encode(text).length;

function textOf(written: Written<string>): string {
  if ('faults' in written) throw new Error(JSON.stringify(written.faults));
  return written.text;
}

/** Returns the invalid fields. */
function faultsOf(written: Written<string>): string[] {
  if ('text' in written) return [];
  return Object.keys(written.faults).filter((field) => written.faults[field] !== undefined);
}

/** Yields texts of characters with a meaning in formats, the same ones in every run. */
function* awkward(count: number, alphabet = '\\;,:"\'n N=?&%+#@ñü短🥾\n\t.-'): Generator<string> {
  const characters = Array.from(alphabet);
  let seed = 20_261_122;
  for (let made = 0; made < count; made += 1) {
    let text = '';
    for (let length = 1 + (made % 24); length > 0; length -= 1) {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      text += characters[(seed >> 8) % characters.length] ?? '';
    }
    yield text;
  }
}

describe('a Wi-Fi network', () => {
  const network = (filled: Partial<Filled<'network' | 'security' | 'password' | 'hidden'>>) =>
    writeWifi({ network: 'Refugio', security: WPA, password: 'camino123', hidden: '', ...filled });

  /**
   * Parses a field like ZXing's WifiResultParser: a value ends with a semicolon that is not
   * escaped.
   */
  const field = (text: string, name: string): string | undefined => {
    const start = text.indexOf(`${name}:`, 'WIFI:'.length);
    if (start < 0) return undefined;
    let value = '';
    for (let at = start + name.length + 1; text[at] !== ';'; at += 1) {
      if (text[at] === '\\') at += 1;
      value += text[at] ?? '';
    }
    return value;
  };

  it('is written in the format of ZXing', () => {
    expect(textOf(network({}))).toBe('WIFI:T:WPA;S:Refugio;P:camino123;;');
    expect(textOf(network({ hidden: 'yes' }))).toBe('WIFI:T:WPA;S:Refugio;P:camino123;H:true;;');
    expect(textOf(network({ security: OPEN }))).toBe('WIFI:T:nopass;S:Refugio;;');
    expect(textOf(network({ network: '"foo;bar\\baz"', security: OPEN }))).toBe(
      'WIFI:T:nopass;S:\\"foo\\;bar\\\\baz\\";;',
    );
    // Phones treat quotation marks around a name as part of it.
    expect(textOf(network({ network: 'CAFE', password: '12345678' }))).toBe(
      'WIFI:T:WPA;S:CAFE;P:12345678;;',
    );
  });

  it('is read back with any name and password', () => {
    for (const text of awkward(300)) {
      const name = Array.from(text).slice(0, 8).join('');
      const password = text.padEnd(8, ';').slice(0, 20);
      const written = textOf(network({ network: name, password, hidden: 'yes' }));
      expect(field(written, 'T')).toBe('WPA');
      expect(field(written, 'S')).toBe(name);
      expect(field(written, 'P')).toBe(password);
      expect(field(written, 'H')).toBe('true');
    }
  });

  it.each([
    ['no name', { network: '' }, ['network']],
    ['a name of 33 bytes', { network: 'ñ'.repeat(16) + 'x' }, ['network']],
    ['a name of 32 bytes', { network: 'ñ'.repeat(16) }, []],
    ['no password', { password: '' }, ['password']],
    ['a password of 7', { password: 'x'.repeat(7) }, ['password']],
    ['a password of 63', { password: 'x'.repeat(63) }, []],
    ['a password of 64', { password: 'x'.repeat(64) }, ['password']],
    ['a key', { password: 'a0'.repeat(32) }, []],
    ['a WEP key of 5', { security: WEP, password: 'abcde' }, []],
    ['a WEP key of 6', { security: WEP, password: 'abcdef' }, ['password']],
    ['a WEP key of 26 digits', { security: WEP, password: 'a0'.repeat(13) }, []],
    ['an unnecessary password', { security: OPEN, password: 'x' }, []],
  ])('with %s is validated', (_name, filled, faults) =>
    expect(faultsOf(network(filled))).toEqual(faults),
  );
});

describe('a contact', () => {
  const nobody = kinds.contact.blank as Filled<ContactField>;
  const ana = {
    ...nobody,
    given: 'Ana María',
    family: 'Pérez; Gómez',
    organization: 'Camino, S.A.',
    title: 'Guía \\ jefa',
    phone: '+34 600 123 456',
    email: 'ana+atajo@example.org',
    website: 'example.org/a?b=1,2;3',
    street: 'Calle Mayor 1, 2ª',
    city: 'León',
    region: 'Castilla y León',
    postcode: '24001',
    country: 'España',
    note: 'Primera línea\nsegunda; tercera, y una muy larga que no cabe en los bytes de una línea 🥾',
  };

  /** The parser leaves escaped semicolons unchanged if a value has no parts. */
  const alone = (value: unknown) => String(value).replaceAll('\\;', ';');

  it.each([VCARD_4, VCARD_3])('in version %s is read back', (version) => {
    const text = textOf(writeContact({ ...ana, version }));
    const card = new ICAL.Component(ICAL.parse(text) as unknown[]);
    const value = (name: string) => card.getFirstPropertyValue(name) as unknown;
    expect(value('version')).toBe(version);
    expect(value('n')).toEqual([ana.family, ana.given, '', '', '']);
    expect(alone(value('fn'))).toBe(`${ana.given} ${ana.family}`);
    expect(value('org')).toBe(ana.organization);
    expect(value('title')).toBe(ana.title);
    expect(value('tel')).toBe(ana.phone);
    expect(value('email')).toBe(ana.email);
    expect(value('url')).toBe('http://example.org/a?b=1,2;3');
    expect(value('adr')).toEqual([
      '',
      '',
      ana.street,
      ana.city,
      ana.region,
      ana.postcode,
      ana.country,
    ]);
    expect(alone(value('note'))).toBe(ana.note);
    for (const line of text.split('\r\n')) expect(bytes(line)).toBeLessThanOrEqual(75);
  });

  it('is read as a vCard 4.0 by a parser of only that version', () => {
    const card = parseVcard4(textOf(writeContact(ana)));
    if (Array.isArray(card)) throw new Error('One card was written');
    const value = (name: string) => card.getProperty(name)[0]?.value as unknown;
    expect(value('FN')).toBe(`${ana.given} ${ana.family}`);
    expect(value('N')).toMatchObject({ familyNames: ana.family, givenNames: ana.given });
    expect(value('ADR')).toMatchObject({ streetAddress: ana.street, countryName: ana.country });
    expect(value('NOTE')).toBe(ana.note);
    expect(value('TEL')).toBe(ana.phone);
  });

  it('is read back with any content', () => {
    for (const text of awkward(300)) {
      const given = `a${text}z`;
      const written = textOf(writeContact({ ...nobody, given, note: given, city: given }));
      const card = new ICAL.Component(ICAL.parse(written) as unknown[]);
      expect(alone(card.getFirstPropertyValue('note'))).toBe(given);
      expect(alone(card.getFirstPropertyValue('fn'))).toBe(given);
      expect(card.getFirstPropertyValue('n')).toEqual(['', given, '', '', '']);
      expect((card.getFirstPropertyValue('adr') as unknown as string[])[3]).toBe(given);
    }
  });

  it.each([
    ['\u202d+34 600 123 456\u202c', '+34 600 123 456'],
    ['+34\u2212600\u2011123456', '+34-600-123456'],
    ['tel:+34-600-123-456', '+34-600-123-456'],
    ['٦٠٠ ١٢٣ ٤٥٦', '600 123 456'],
    ['+1 555 123 4567 ext. 12', '+1 555 123 4567,12'],
    ['555 123 4567;ext=12', '555 123 4567,12'],
    ['*31#600123456', '*31#600123456'],
  ])('with the phone %j contains %s', (phone, dialled) => {
    const text = textOf(writeContact({ ...nobody, given: 'A', phone }));
    const card = new ICAL.Component(ICAL.parse(text) as unknown[]);
    expect(card.getFirstPropertyValue('tel')).toBe(dialled);
  });

  it('has no invisible characters in its addresses', () => {
    const text = textOf(
      writeContact({
        ...nobody,
        given: 'A',
        email: '\u202aana@example.org\u202c',
        website: '\u200ehttps://example.org/\ufeff',
      }),
    );
    expect(text).toContain('EMAIL:ana@example.org\r\n');
    expect(text).toContain('URL:https://example.org/\r\n');
  });

  it('of an organization contains its name', () => {
    const text = textOf(writeContact({ ...nobody, organization: 'Camino' }));
    expect(text).toBe(
      'BEGIN:VCARD\r\nVERSION:4.0\r\nN:;;;;\r\nFN:Camino\r\nORG:Camino\r\nEND:VCARD\r\n',
    );
    expect(parseVcard4(text)).toBeTruthy();
  });

  it.each([
    ['nobody', {}, ['given']],
    ['two phones', { given: 'A', phone: '600 123 456 / 911 234 567' }, ['phone']],
    ['an area code apart', { given: 'A', phone: '030/1234567' }, []],
    ['a phone of letters', { given: 'A', phone: 'six' }, ['phone']],
    ['an extension', { given: 'A', phone: '900 123 456 #12' }, []],
    ['half an address', { given: 'A', email: 'ana@' }, ['email']],
    ['no web address', { given: 'A', website: 'http://' }, ['website']],
    ['a misspelt scheme', { given: 'A', website: 'htps://example.org' }, ['website']],
    ['another scheme', { given: 'A', website: 'ftp://x.org' }, ['website']],
    ['an email address', { given: 'A', website: 'mailto:ana@x.org' }, ['website']],
    ['a port', { given: 'A', website: 'x.org:8080/a' }, []],
    ['a scheme in capitals', { given: 'A', website: ' HTTPS://x.org' }, []],
  ])('with %s is validated', (_name, filled, faults) =>
    expect(faultsOf(writeContact({ ...nobody, ...filled }))).toEqual(faults),
  );
});

describe('an e-mail', () => {
  it('is an address in a valid mailto URL', () => {
    expect(textOf(writeEmail({ address: ' Ana@Example.ORG ', subject: '', body: '' }))).toBe(
      'mailto:Ana@example.org',
    );
    expect(textOf(writeEmail({ address: 'a+b@camino.es', subject: '', body: 'x y' }))).toBe(
      'mailto:a%2Bb@camino.es?body=x%20y',
    );
    expect(textOf(writeEmail({ address: 'ana@año.es', subject: 'S', body: '' }))).toBe(
      'mailto:ana@xn--ao-zja.es?subject=S',
    );
  });

  it('is read back with any content', () => {
    for (const text of awkward(300)) {
      const url = new URL(
        textOf(writeEmail({ address: 'a%b&c@x.org', subject: text, body: text })),
      );
      expect(decodeURIComponent(url.pathname)).toBe('a%b&c@x.org');
      const fields = new Map(
        url.search
          .slice(1)
          .split('&')
          .map((field) => field.split('=').map(decodeURIComponent) as [string, string]),
      );
      expect(fields.get('subject')?.replaceAll('\r\n', '\n')).toBe(text);
      expect(fields.get('body')).toBe(text.replaceAll('\n', '\r\n'));
      // No reader decodes it as a space.
      expect(url.href).not.toContain('+');
    }
  });

  it.each(['ana@example.org', "o'hara@x.org", 'ñ@x.org', 'a@localhost'])(
    'accepts the address %s',
    (address) => expect(isAddress(address)).toBe(true),
  );
  it.each(['', 'ana', 'ana@', '@x.org', 'a b@x.org', 'a@b@c', 'a@x.org?x', 'a@[', 'a,b@x.org'])(
    'does not accept the address %j',
    (address) =>
      expect(faultsOf(writeEmail({ address, subject: '', body: '' }))).toEqual(['address']),
  );
});

describe('a number', () => {
  it.each([
    ['+34 600 123 456', '+34600123456'],
    ['0034 600-123-456', '+34600123456'],
    ['+44 (0)20 7946 0958', '+442079460958'],
    ['+1 (415) 555.2671', '+14155552671'],
    ['600 123 456', null],
    ['+34', null],
    ['+0 600 123 456', null],
    ['+34 600 123 456 789 01', null],
    ['+34 6OO 123 456', null],
    // Address books and web pages copy it like this.
    ['\u202d+34600123456\u202c', '+34600123456'],
    ['\u202a+34 600 123 456\u202c', '+34600123456'],
    ['\u2066+34\u00a0600\u2009123\u202f456\u2069', '+34600123456'],
    ['\u200e+34\u200b600123456\ufeff', '+34600123456'],
    ['+34\u00ad600\u2060123456', '+34600123456'],
    ['+34\u2212600\u2212123456', '+34600123456'],
    ['+34\u2013600\u2011123\u2010456', '+34600123456'],
    ['\uff0b\uff13\uff14\uff08\uff16\uff10\uff10\uff09123456', '+34600123456'],
    ['+٣٤ ٦٠٠ ١٢٣ ٤٥٦', '+34600123456'],
    ['+۹۸ ۲۱ ۱۲۳۴ ۵۶۷۸', '+982112345678'],
    ['+९१ ९८७६५ ४३२१०', '+919876543210'],
    ['tel:+34-600-123-456', '+34600123456'],
    ['TEL: +34 600123456', '+34600123456'],
    ['sms:+34600123456', '+34600123456'],
    ['112', '112'],
    ['12345', '12345'],
    ['116\u00a0117', '116117'],
    ['12', null],
    ['1234567', null],
    ['*100#', null],
    ['tel:', null],
  ])('%s is %s', (given, number) =>
    expect(parseNumber(given)).toEqual(number && { number, extension: '' }),
  );

  it.each([
    ['+1 555 123 4567 ext 12', '12'],
    ['+1 555 123 4567 ext. 12', '12'],
    ['+1 555 123 4567 Extension: 0012', '0012'],
    ['+1 555 123 4567, ext 12', '12'],
    ['+1 555 123 4567x12', '12'],
    ['+1 (555) 123-4567 x 12', '12'],
    ['+1 555 123 4567 #12', '12'],
    ['+15551234567;ext=12', '12'],
    ['tel:+1-555-123-4567;ext=12', '12'],
    ['+1 555 123 4567,12', '12'],
    ['+15551234567,,123', '123'],
    ['\u202d+1 555 123 4567 ext\u00a012\u202c', '12'],
  ])('%j has an extension', (given, extension) => {
    expect(parseNumber(given)).toEqual({ number: '+15551234567', extension });
    expect(textOf(writePhone({ number: given }))).toBe(`tel:+15551234567;ext=${extension}`);
    expect(faultsOf(writeSms({ number: given, message: '' }))).toEqual(['number']);
  });

  it.each(['112 ext 3', '+1 555 123 4567 ext', '+1 555 123 4567,,123#', '+1 555 123 4567 y 3'])(
    '%j is not a number',
    (given) => expect(parseNumber(given)).toBeNull(),
  );

  it('is used for calls and for messages', () => {
    expect(textOf(writePhone({ number: '+34 600 123 456' }))).toBe('tel:+34600123456');
    expect(textOf(writePhone({ number: '112' }))).toBe('tel:112');
    expect(textOf(writeSms({ number: '12345', message: 'ALTA' }))).toBe('sms:12345?body=ALTA');
    expect(textOf(writeSms({ number: '+34 600 123 456', message: '' }))).toBe('sms:+34600123456');
    for (const message of awkward(100)) {
      const url = new URL(textOf(writeSms({ number: '+34600123456', message })));
      expect(url.pathname).toBe('+34600123456');
      const [, body = ''] = url.search.split('=');
      expect(decodeURIComponent(body)).toBe(message.replaceAll('\n', '\r\n'));
    }
  });
});

describe('an event', () => {
  const origin = { visit: '0a1b2c', at: new Date('2026-11-22T10:00:00Z') };
  const blank = kinds.event.blank as Filled<EventField>;
  const walk = { ...blank, title: 'Walk', startDay: '2026-12-01', startTime: '18:30' };
  const read = (filled: Filled<EventField>) => {
    const calendar = new ICAL.Component(
      ICAL.parse(textOf(writeEvent(filled, origin))) as unknown[],
    );
    const event = calendar.getFirstSubcomponent('vevent');
    if (!event) throw new Error('There is no event');
    return new ICAL.Event(event);
  };

  it('has the properties that the standard requires', () => {
    const event = read({ ...walk, endTime: '19:30' });
    expect(event.uid).toMatch(/^0a1b2c-[0-9a-z]{10,13}$/);
    expect(event.component.getFirstPropertyValue('dtstamp')?.toString()).toBe(
      '2026-11-22T10:00:00Z',
    );
    expect(event.summary).toBe('Walk');
    // The time that the local clock shows.
    expect(event.startDate.toJSDate()).toEqual(new Date('2026-12-01T18:30'));
    expect(event.endDate.toJSDate()).toEqual(new Date('2026-12-01T19:30'));
    expect(event.startDate.zone.tzid).toBe('UTC');
  });

  it('has a unique and reproducible id', () => {
    const events = [
      walk,
      { ...walk, title: 'Walk 2' },
      { ...walk, startDay: '2026-12-02' },
      { ...walk, endTime: '19:30' },
      { ...walk, allDay: 'yes' },
      { ...walk, place: 'Ronda' },
      { ...walk, description: 'Ronda' },
    ];
    const ids = events.map((event) => read(event).uid);
    expect(new Set(ids).size).toBe(events.length);
    expect(events.map((event) => read({ ...event }).uid)).toEqual(ids);
    // Another visitor can create the same event.
    const other = writeEvent(walk, { ...origin, visit: '3d4e5f' });
    expect(textOf(other)).not.toContain(ids[0]);
  });

  it('that ends when it starts has no end', () => {
    expect(textOf(writeEvent({ ...walk, endTime: '18:30' }, origin))).not.toContain('DTEND');
    expect(textOf(writeEvent({ ...walk, endTime: '18:31' }, origin))).toContain('DTEND');
  });

  it.each(['Etc/GMT+12', 'Etc/GMT-14'])('is complete on the last possible day in %s', (zone) => {
    vi.stubEnv('TZ', zone);
    const last = { ...walk, startDay: LAST_DAY, endDay: LAST_DAY };
    for (const filled of [
      { ...last, startTime: '00:00', endTime: '23:59' },
      { ...last, allDay: 'yes' },
    ]) {
      const text = textOf(writeEvent(filled, origin));
      expect(text).toMatch(/^DTSTART(;VALUE=DATE:\d{8}|:\d{8}T\d{6}Z)\r$/m);
      expect(text).toMatch(/^DTEND(;VALUE=DATE:\d{8}|:\d{8}T\d{6}Z)\r$/m);
    }
    vi.unstubAllEnvs();
  });

  it('of whole days ends with the last day', () => {
    const event = read({ ...walk, allDay: 'yes', endDay: '2026-12-31' });
    expect(event.startDate.isDate).toBe(true);
    expect(event.startDate.toString()).toBe('2026-12-01');
    expect(event.endDate.toString()).toBe('2027-01-01');
  });

  it('uses the local time of its author, including summer time', () => {
    vi.stubEnv('TZ', 'Europe/Madrid');
    const at = (startDay: string) => read({ ...walk, startDay }).startDate.toString();
    expect(at('2026-07-01')).toBe('2026-07-01T16:30:00Z');
    expect(at('2026-12-01')).toBe('2026-12-01T17:30:00Z');
    vi.unstubAllEnvs();
  });

  it.each([
    ['Europe/Madrid', '2026-03-29', '02:30', false],
    ['Europe/Madrid', '2026-03-29', '02:00', false],
    ['Europe/Madrid', '2026-03-29', '01:59', true],
    ['Europe/Madrid', '2026-03-29', '03:00', true],
    ['Europe/Madrid', '2026-10-25', '02:30', true],
    ['Australia/Lord_Howe', '2026-10-04', '02:15', false],
    ['Africa/Cairo', '2026-04-24', '00:30', false],
    ['America/New_York', '2026-03-08', '02:30', false],
    ['Pacific/Apia', '2011-12-30', '12:00', false],
    ['UTC', '2026-03-29', '02:30', true],
  ])('in %s on %s at %s is checked for existence', (zone, day, time, exists) => {
    vi.stubEnv('TZ', zone);
    const starts = { ...walk, startDay: day, startTime: time };
    const ends = { ...walk, startDay: '2011-01-01', endDay: day, endTime: time };
    expect(faultsOf(writeEvent(starts, origin))).toEqual(exists ? [] : ['startTime']);
    expect(faultsOf(writeEvent(ends, origin))).toEqual(exists ? [] : ['endTime']);
    expect(faultsOf(writeEvent({ ...starts, allDay: 'yes' }, origin))).toEqual([]);
    vi.unstubAllEnvs();
  });

  it('shows the time zone of its start', () => {
    vi.stubEnv('TZ', 'Europe/Madrid');
    const note = (filled: Filled<EventField>) => kinds.event.note?.(filled);
    expect(note({ ...walk, startDay: '2026-07-01' })).toContain('Central European Summer Time');
    expect(note(walk)).toContain('Central European Standard Time');
    // The clock skips this time and shows one hour later.
    expect(note({ ...walk, startDay: '2026-03-29', startTime: '02:30' })).toContain('Summer');
    expect(note(blank)).toContain('Central European');
    expect(note({ ...walk, allDay: 'yes' })).toBe(
      'An all-day event has the same dates in every time zone.',
    );
    vi.unstubAllEnvs();
  });

  it('is read back with any content', () => {
    for (const text of awkward(300)) {
      const title = `a${text}z`;
      const event = read({ ...walk, title, place: title, description: title });
      expect([event.summary, event.location, event.description]).toEqual([title, title, title]);
    }
  });

  it.each([
    ['nothing', blank, ['startDay', 'startTime', 'title']],
    ['no title', { ...walk, title: ' ' }, ['title']],
    ['no time', { ...walk, startTime: '' }, ['startTime']],
    ['an end without its time', { ...walk, endDay: '2026-12-02' }, ['endTime']],
    ['an end before its start', { ...walk, endTime: '18:00' }, ['endTime']],
    ['one on the same day', { ...walk, endDay: '2026-12-01', endTime: '02:00' }, ['endTime']],
    ['one on an earlier day', { ...walk, endDay: '2026-11-30', endTime: '19:00' }, ['endDay']],
    ['an end after midnight', { ...walk, endDay: '2026-12-02', endTime: '02:00' }, []],
    ['the same moment as its end', { ...walk, endTime: '18:30' }, []],
    ['whole days and no time', { ...walk, allDay: 'yes', startTime: '' }, []],
    [
      'an end in a year of five digits',
      { ...walk, endDay: '20266-12-01', endTime: '9:00' },
      ['endDay'],
    ],
    ['a last day that there is not', { ...walk, allDay: 'yes', endDay: '2026-13-01' }, ['endDay']],
    ['a last day in such a year', { ...walk, allDay: 'yes', endDay: '20266-12-01' }, ['endDay']],
    ['the last day of four digits', { ...walk, allDay: 'yes', endDay: '9999-12-31' }, ['endDay']],
    ['a start in such a year', { ...walk, startDay: '20266-12-01' }, ['startDay']],
    ['an earlier last day', { ...walk, allDay: 'yes', endDay: '2026-11-30' }, ['endDay']],
  ])('with %s is validated', (_name, filled, faults) =>
    expect(faultsOf(writeEvent(filled, origin)).toSorted()).toEqual(faults),
  );
});

describe('a location', () => {
  /** The used parts of RFC 5870. */
  const GEO = /^geo:-?\d+(\.\d+)?,-?\d+(\.\d+)?$/;

  it.each([
    ['40.4168', '-3.7038', 'geo:40.4168,-3.7038'],
    ['+40,4168', '003,70', 'geo:40.4168,3.7'],
    ['-0.0', '180', 'geo:0,180'],
    ['-90', '12', 'geo:-90,0'],
    ['49.28337298208484', '-123.10486893711393', 'geo:49.283372982085,-123.104868937114'],
    ['89.99999999999999999', '0.00000000000001', 'geo:90,0'],
    ['\u221240.4168', '\u22123.7038', 'geo:-40.4168,-3.7038'],
    ['40.4168°', '-3.7038°', 'geo:40.4168,-3.7038'],
    ['40.4168° N', '3.7038° W', 'geo:40.4168,-3.7038'],
    ['S 33.8568', 'E151.2153', 'geo:-33.8568,151.2153'],
    ['40°25′0.5″ N', `3°42'13.7"W`, 'geo:40.4168056,-3.7038056'],
    ["40° 25.5'", 'W 3º 42’ 13.7”', 'geo:40.425,-3.7038056'],
    ['\u200e40.4168\u202c', '٣٫٧', 'geo:40.4168,3.7'],
    ['４０．４１６８', '-3.7', 'geo:40.4168,-3.7'],
  ])('of %s and %s is %s', (latitude, longitude, text) => {
    expect(textOf(writeLocation({ latitude, longitude }))).toBe(text);
    expect(text).toMatch(GEO);
  });

  it.each([
    ['', '', ['latitude', 'longitude']],
    ['90.1', '0', ['latitude']],
    ['0', '-180.5', ['longitude']],
    ['4e1', 'x', ['latitude', 'longitude']],
    ['40 E', '3 N', ['latitude', 'longitude']],
    ['-40 S', 'W 3 W', ['latitude', 'longitude']],
    ["40°60'", "3.5°30'", ['latitude', 'longitude']],
    ["40°1.5'2", `3°1.5'2"`, ['latitude', 'longitude']],
  ])('of %j and %j is validated', (latitude, longitude, faults) =>
    expect(faultsOf(writeLocation({ latitude, longitude }))).toEqual(faults),
  );

  it.each([
    [' 40.4168, -3.7038 ', 'geo:40.4168,-3.7038'],
    ['40.4168,-3.7038', 'geo:40.4168,-3.7038'],
    ['40.4168,3.7038', 'geo:40.4168,3.7038'],
    ['40.4168\t-3.7038', 'geo:40.4168,-3.7038'],
    ['40.4168 3.7038', 'geo:40.4168,3.7038'],
    ['49.28337298208484, -123.10486893711393', 'geo:49.283372982085,-123.104868937114'],
    ['(40.4168, \u22123.7038)', 'geo:40.4168,-3.7038'],
    ['40.4168° N, 3.7038° W', 'geo:40.4168,-3.7038'],
    ['40.4168°N 3.7038°W', 'geo:40.4168,-3.7038'],
    ['N 40.4168 W 3.7038', 'geo:40.4168,-3.7038'],
    ['3.7038° W, 40.4168° N', 'geo:40.4168,-3.7038'],
    ['40,4168; -3,7038', 'geo:40.4168,-3.7038'],
    ['40,4168 -3,7038', 'geo:40.4168,-3.7038'],
    ['40,4168, -3,7038', 'geo:40.4168,-3.7038'],
    ['40,4168,-3,7038', 'geo:40.4168,-3.7038'],
    ['40, -3', 'geo:40,-3'],
    ['40,-3', 'geo:40,-3'],
    ['geo:40.4168,-3.7038', 'geo:40.4168,-3.7038'],
    ['geo:40.4168,-3.7038,650;u=35', 'geo:40.4168,-3.7038'],
    ['geo:40.4168,-3.7038?q=Madrid', 'geo:40.4168,-3.7038'],
    [`40°25'01.0"N 3°42'13.7"W`, 'geo:40.4169444,-3.7038056'],
    ['40° 25′ 1″ N, 3° 42′ 13.7″ W', 'geo:40.4169444,-3.7038056'],
  ])('is read from the pair %j', (latitude, text) => {
    expect(textOf(writeLocation({ latitude, longitude: '' }))).toBe(text);
    const { latitude: first, longitude } = splitPair({ latitude, longitude: '7' });
    expect(textOf(writeLocation({ latitude: first, longitude }))).toBe(text);
  });

  it.each(['40,4168', '40.4168', '', '40°25′1″ N', 'Madrid', '1, 2, 3'])(
    'is not read from %j, which is not a pair',
    (latitude) => {
      const filled = { latitude, longitude: '' };
      expect(splitPair(filled)).toBe(filled);
    },
  );
});

describe('a text', () => {
  it('loses trailing line breaks, which are often copied by accident', () => {
    const origin = { visit: '0', at: new Date(0) };
    expect(textOf(kinds.text.write({ text: 'a\nb \r\n\n' }, origin))).toBe('a\nb ');
    expect(textOf(kinds.text.write({ text: '\na' }, origin))).toBe('\na');
  });
});

describe('a long line', () => {
  it('is folded between characters', () => {
    const folded = joinLines([`NOTE:${'🥾'.repeat(100)}`]);
    for (const line of folded.split('\r\n')) expect(bytes(line)).toBeLessThanOrEqual(75);
    expect(folded.replaceAll('\r\n ', '')).toBe(`NOTE:${'🥾'.repeat(100)}\r\n`);
  });
});

it('all kinds with a form, and a link, are offered', () => {
  expect(choices.map(({ value }) => value)).toEqual(['link', ...Object.keys(kinds)]);
});
