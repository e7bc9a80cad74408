import { addDays, isDay } from '../../../lib/calendar';
import { escapeText, joinLines } from './lines';
import { problems } from './messages';
import { type Filled, TICKED, unlessFaulty, type Written } from './written';

export type EventField =
  'title' | 'allDay' | 'startDay' | 'startTime' | 'endDay' | 'endTime' | 'place' | 'description';

/** What the standard asks of every event beside what people fill in. */
export interface EventOrigin {
  /** The same for the events of this visit alone, all over the world. */
  visit: string;
  /** When their writing began. */
  at: Date;
}

/** The standard has years of four digits, in UTC, too, and for the day that follows a last one. */
export const LAST_DAY = '9999-12-30';

const PRODUCT = '-//Atajo//QR codes//EN';

/**
 * An event (RFC 5545). Times are filled in by the clock of whoever writes them and stand in UTC, so
 * that they are the same moment to a reader elsewhere. Whole days are the same days everywhere, and
 * the standard's end is the day after the last one.
 */
export function writeEvent(
  filled: Filled<EventField>,
  { visit, at }: EventOrigin,
): Written<EventField> {
  const { title, allDay, place, description } = filled;
  const { start, end, faults } = allDay === TICKED ? wholeDays(filled) : moments(filled);
  const titleFault = title.trim() === '' ? problems.title : undefined;
  return unlessFaulty({ ...faults, title: titleFault }, () => {
    const said = [
      `DTSTART${start}`,
      ...(end === '' ? [] : [`DTEND${end}`]),
      `SUMMARY:${escapeText(title.trim())}`,
      ...(place.trim() === '' ? [] : [`LOCATION:${escapeText(place.trim())}`]),
      ...(description.trim() === '' ? [] : [`DESCRIPTION:${escapeText(description.trim())}`]),
    ];
    return joinLines([
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      `PRODID:${PRODUCT}`,
      'BEGIN:VEVENT',
      // A calendar takes a known one for a change of the same event: what says anything else has
      // another, and what says the same has the same one in every file.
      `UID:${visit}-${fingerprint(said)}`,
      `DTSTAMP:${utc(at)}`,
      ...said,
      'END:VEVENT',
      'END:VCALENDAR',
    ]);
  });
}

/** The moment at which it starts; null where that is no moment, or not filled in yet. */
export function startOf({ startDay, startTime }: Filled<EventField>): Date | null {
  return moment(startDay, startTime);
}

interface Span {
  /** The parameters and the value of the property; of the end '' where there is none. */
  start: string;
  end: string;
  faults: { [field in EventField]?: string | undefined };
}

function wholeDays({ startDay, endDay }: Filled<EventField>): Span {
  const value = (day: string) => `;VALUE=DATE:${day.replaceAll('-', '')}`;
  return {
    start: value(startDay),
    end: isWritable(endDay) ? value(addDays(endDay, 1)) : '',
    faults: {
      startDay: isWritable(startDay) ? undefined : problems.startDate,
      endDay: endDayFault(endDay, endDay !== '' && endDay < startDay),
    },
  };
}

function moments(filled: Filled<EventField>): Span {
  const { startDay, startTime, endDay, endTime } = filled;
  const start = startOf(filled);
  // An end on the same day needs its time alone.
  const ends = endDay !== '' || endTime !== '';
  const end = moment(endDay || startDay, endTime);
  const lasts = start !== null && end !== null && end > start;
  const early = start !== null && end !== null && end < start;
  // Of an end on the day of its start, the time is what is wrong.
  const endsThatDay = endDay === '' || endDay === startDay;
  return {
    start: start ? `:${utc(start)}` : '',
    // To the standard an end is later than its start, and what is over at once has none.
    end: lasts ? `:${utc(end)}` : '',
    faults: {
      startDay: isWritable(startDay) ? undefined : problems.startDate,
      startTime: startTime === '' ? problems.startTime : skippedFault(start, startDay, startTime),
      endDay: endDayFault(endDay, early && !endsThatDay),
      endTime:
        ends && endTime === ''
          ? problems.endTime
          : (skippedFault(end, endDay || startDay, endTime) ??
            (early && endsThatDay ? problems.endsEarlyThatDay : undefined)),
    },
  };
}

/** What is wrong with a time that the clock of this device never shows, as in the night it goes forward. */
function skippedFault(found: Date | null, day: string, time: string): string | undefined {
  if (found === null) return undefined;
  // For a time that does not exist, Date takes a later one.
  const [hours, minutes] = time.split(':').map(Number);
  const isShown =
    found.getDate() === Number(day.slice(-2)) &&
    found.getHours() === hours &&
    found.getMinutes() === minutes;
  return isShown ? undefined : problems.skippedTime;
}

/** A day on which it ends may be missing. */
function endDayFault(endDay: string, early: boolean): string | undefined {
  if (endDay !== '' && !isWritable(endDay)) return problems.endDate;
  return early ? problems.endsEarly : undefined;
}

function moment(day: string, time: string): Date | null {
  const date = new Date(`${day}T${time}`);
  return isWritable(day) && !Number.isNaN(date.getTime()) ? date : null;
}

function isWritable(day: string): boolean {
  return isDay(day) && day <= LAST_DAY;
}

/** 64 bits of what an event says (FNV-1a): enough to tell those of a visit apart. */
function fingerprint(lines: readonly string[]): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(lines.join('\n'))) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(36);
}

/** 20261120T170000Z. */
function utc(date: Date): string {
  return date.toISOString().replace(/[-:]|\.\d+/g, '');
}
