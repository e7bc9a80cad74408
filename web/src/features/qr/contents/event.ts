import { addDays, isDay } from '../../../lib/calendar';
import { escapeText, joinLines } from './lines';
import { problems } from './messages';
import { type Filled, TICKED, unlessFaulty, type Written } from './written';

export type EventField =
  'title' | 'allDay' | 'startDay' | 'startTime' | 'endDay' | 'endTime' | 'place' | 'description';

/** Values that the standard requires of every event, besides what the user enters. */
export interface EventOrigin {
  /** A globally unique id, which only the events of this visit share. */
  visit: string;
  /** The time of DTSTAMP: when the user opened the content forms. */
  at: Date;
}

/** The last valid day: years have four digits, also in UTC and for the day after the last one. */
export const LAST_DAY = '9999-12-30';

const PRODUCT = '-//Atajo//QR codes//EN';

/**
 * Writes an event (RFC 5545). Times are entered in the time zone of the device and written in UTC,
 * so that they are the same moment in every time zone. All-day events have the same dates
 * everywhere; in the standard, their end is the day after the last one.
 */
export function writeEvent(
  filled: Filled<EventField>,
  { visit, at }: EventOrigin,
): Written<EventField> {
  const { title, allDay, place, description } = filled;
  const { start, end, faults } = allDay === TICKED ? wholeDays(filled) : moments(filled);
  const titleFault = title.trim() === '' ? problems.title : undefined;
  return unlessFaulty({ ...faults, title: titleFault }, () => {
    const properties = [
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
      // A calendar takes an event with a known UID as a change of that event. So events that differ
      // have different UIDs, and the same event has the same UID in every file.
      `UID:${visit}-${fingerprint(properties)}`,
      `DTSTAMP:${utc(at)}`,
      ...properties,
      'END:VEVENT',
      'END:VCALENDAR',
    ]);
  });
}

/** Returns the time at which an event starts; null if it is invalid or not entered yet. */
export function startOf({ startDay, startTime }: Filled<EventField>): Date | null {
  return moment(startDay, startTime);
}

interface Period {
  /** Parameters and value of the property; '' for no end. */
  start: string;
  end: string;
  faults: { [field in EventField]?: string | undefined };
}

function wholeDays({ startDay, endDay }: Filled<EventField>): Period {
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

function moments(filled: Filled<EventField>): Period {
  const { startDay, startTime, endDay, endTime } = filled;
  const start = startOf(filled);
  // An end on the start day needs only a time.
  const ends = endDay !== '' || endTime !== '';
  const end = moment(endDay || startDay, endTime);
  const lasts = start !== null && end !== null && end > start;
  const early = start !== null && end !== null && end < start;
  // If an event ends on its start day, the fault is in the time.
  const endsThatDay = endDay === '' || endDay === startDay;
  return {
    start: start ? `:${utc(start)}` : '',
    // In the standard, an end is later than the start, and an event without duration has no end.
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

/** Returns the fault of a time that does not exist on this device, because clocks go forward. */
function skippedFault(found: Date | null, day: string, time: string): string | undefined {
  if (found === null) return undefined;
  // Date replaces a time that does not exist with a later one.
  const [hours, minutes] = time.split(':').map(Number);
  const isShown =
    found.getDate() === Number(day.slice(-2)) &&
    found.getHours() === hours &&
    found.getMinutes() === minutes;
  return isShown ? undefined : problems.skippedTime;
}

/** Returns the fault of the end date, which is optional. */
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

/** Returns a 64-bit FNV-1a hash of an event, enough to distinguish the events of a visit. */
function fingerprint(lines: readonly string[]): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(lines.join('\n'))) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(36);
}

/** Formats a time as 20261120T170000Z. */
function utc(date: Date): string {
  return date.toISOString().replace(/[-:]|\.\d+/g, '');
}
