import { escapeText, joinLines } from './lines';
import { type Filled, TICKED, unlessFaulty, type Written } from './written';

export type EventField =
  'title' | 'allDay' | 'startDay' | 'startTime' | 'endDay' | 'endTime' | 'place' | 'description';

/** What the standard asks of every event beside what people fill in. */
export interface EventOrigin {
  /** The same for this event alone, all over the world. */
  id: string;
  /** When it was written. */
  at: Date;
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const PRODUCT = '-//Atajo//QR codes//EN';

/**
 * An event (RFC 5545). Times are filled in by the clock of whoever writes them and stand in UTC, so
 * that they are the same moment to a reader elsewhere. Whole days are the same days everywhere, and
 * the standard's end is the day after the last one.
 */
export function writeEvent(
  filled: Filled<EventField>,
  { id, at }: EventOrigin,
): Written<EventField> {
  const { title, allDay, place, description } = filled;
  const { start, end, faults } = allDay === TICKED ? wholeDays(filled) : moments(filled);
  const titleFault = title.trim() === '' ? 'Enter what it is' : undefined;
  return unlessFaulty({ ...faults, title: titleFault }, () =>
    joinLines([
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      `PRODID:${PRODUCT}`,
      'BEGIN:VEVENT',
      `UID:${id}`,
      `DTSTAMP:${utc(at)}`,
      `DTSTART${start}`,
      ...(end === '' ? [] : [`DTEND${end}`]),
      `SUMMARY:${escapeText(title.trim())}`,
      ...(place.trim() === '' ? [] : [`LOCATION:${escapeText(place.trim())}`]),
      ...(description.trim() === '' ? [] : [`DESCRIPTION:${escapeText(description.trim())}`]),
      'END:VEVENT',
      'END:VCALENDAR',
    ]),
  );
}

interface Span {
  /** The parameters and the value of the property; of the end '' where there is none. */
  start: string;
  end: string;
  faults: { [field in EventField]?: string | undefined };
}

const NO_START = 'Enter the day on which it starts';
const NO_TIME = 'Enter the time at which it starts';
const ENDS_EARLY = 'It cannot end before it starts';

function wholeDays({ startDay, endDay }: Filled<EventField>): Span {
  const early = endDay !== '' && endDay < startDay;
  const value = (day: string) => `;VALUE=DATE:${day.replaceAll('-', '')}`;
  return {
    start: value(startDay),
    end: endDay === '' ? '' : value(dayAfter(endDay)),
    faults: {
      startDay: DAY.test(startDay) ? undefined : NO_START,
      endDay: early ? ENDS_EARLY : undefined,
    },
  };
}

function moments({ startDay, startTime, endDay, endTime }: Filled<EventField>): Span {
  const start = moment(startDay, startTime);
  // An end on the same day needs its time alone.
  const ends = endDay !== '' || endTime !== '';
  const end = moment(endDay || startDay, endTime);
  const early = start !== null && end !== null && end < start;
  return {
    start: start ? `:${utc(start)}` : '',
    end: ends && end ? `:${utc(end)}` : '',
    faults: {
      startDay: DAY.test(startDay) ? undefined : NO_START,
      startTime: startTime === '' ? NO_TIME : undefined,
      endDay: early ? ENDS_EARLY : undefined,
      endTime: ends && endTime === '' ? 'Enter the time at which it ends' : undefined,
    },
  };
}

function moment(day: string, time: string): Date | null {
  const date = new Date(`${day}T${time}`);
  return DAY.test(day) && !Number.isNaN(date.getTime()) ? date : null;
}

function dayAfter(day: string): string {
  const date = new Date(`${day}T00:00Z`);
  if (Number.isNaN(date.getTime())) return '';
  date.setUTCDate(date.getUTCDate() + 1);
  return date.toISOString().slice(0, 10);
}

/** 20261120T170000Z. */
function utc(date: Date): string {
  return date.toISOString().replace(/[-:]|\.\d+/g, '');
}
