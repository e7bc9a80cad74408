/**
 * Makes rows from the links that the formats find: applies the limits of links and counts problems.
 */
import { codePoints } from '../../lib/text';
import { readInstant } from './dates';
import {
  MAX_ROWS,
  type Cause,
  type Note,
  type ProblemCode,
  type ReadOptions,
  type Row,
  type SourceState,
  type Summary,
} from './parsed';

/** One link, as a format finds it. */
export interface Found {
  /** All endings of the link; none if the source has none. */
  codes: string[];
  /** Short URL of each of them at the source, in the same order. */
  shortUrls?: string[];
  destination: string;
  title?: string;
  tags?: string[];
  created?: unknown;
  expires?: unknown;
  /** Of Atajo's own exports only. */
  domain?: string;
  state?: SourceState | null | undefined;
  notes?: Note[];
}

/** Maximum length in Unicode code points, as for a title and a tag. */
const MAX_DESTINATION = 999;
const MAX_TITLE = 100;
const MAX_TAGS = 10;
const MAX_TAG = 30;
/** Earliest accepted time: nothing on the web is older. */
const FIRST_TIME = Date.UTC(1995, 0);
const LAST_TIME = Date.UTC(9999, 11, 31);
/** A short URL with its host, and not an ending alone. */
const SHORT_URL = /^(?:https?:\/\/)?[^\s/]+\.[^\s/]+\/\S+$/i;
const MAX_SHORT_URL = 300;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\p{Surrogate}]+/gu;

export class RowWriter {
  readonly #problems = new Map<ProblemCode, number>();
  #count = 0;
  #unzoned = 0;

  constructor(
    private readonly options: ReadOptions,
    private readonly emit: (row: Row) => void,
  ) {}

  /** Adds the rows of one link: one for each of its endings. */
  add(place: number, found: Found): void {
    const codes = [...new Set(found.codes.filter((code) => code !== ''))];
    const shortUrlOf = (code: string) => urlOf(found.shortUrls?.[found.codes.indexOf(code)]);
    const { title, notes: titleNotes } = cleanTitle(found.title ?? '');
    const { tags, notes: tagNotes } = cleanTags(found.tags ?? []);
    const created = this.#read(found.created, 'created', FIRST_TIME, this.options.now);
    const expires = this.#read(found.expires, 'expires', FIRST_TIME, LAST_TIME);
    const isExpired = expires.time !== null && expires.time <= this.options.now;
    const destination = found.destination.trim();
    const several: Note[] = codes.length > 1 ? ['one-of-several'] : [];
    for (const code of codes.length > 0 ? codes : [null]) {
      this.#emit(place, {
        code,
        short_url: code === null ? null : shortUrlOf(code),
        destination,
        title,
        tags,
        created_at: isoOf(created.time),
        expires_at: isoOf(expires.time),
        ...(found.domain !== undefined && { domain: found.domain }),
        state: found.state ?? (isExpired ? 'expired' : null),
        unreadable: causeOf(destination),
        notes: [
          ...several,
          ...(found.notes ?? []),
          ...titleNotes,
          ...tagNotes,
          ...created.notes,
          ...expires.notes,
        ],
      });
    }
  }

  /** Adds a row that cannot be read. `text` is the part of it that can be shown. */
  fail(place: number, unreadable: Cause, text = ''): void {
    const nothing = {
      code: null,
      short_url: null,
      title: '',
      tags: [],
      created_at: null,
      expires_at: null,
    };
    const destination = text.trim().slice(0, MAX_DESTINATION);
    this.#emit(place, { ...nothing, destination, state: null, unreadable, notes: [] });
  }

  problem(code: ProblemCode): void {
    this.#problems.set(code, (this.#problems.get(code) ?? 0) + 1);
  }

  /**
   * Returns the problems and questions of the whole file. `isRead` is false while the columns are
   * unknown.
   */
  end(isRead: boolean): Omit<Summary, 'source'> {
    const isExplained = [...this.#problems.keys()].some((code) => code !== 'encoding-guessed');
    if (isRead && this.#count === 0 && !isExplained) this.problem('no-rows');
    return {
      problems: Array.from(this.#problems, ([code, count]) => ({ code, count })),
      questions: { zone: this.#unzoned > 0 ? { count: this.#unzoned } : null, columns: null },
    };
  }

  #emit(place: number, row: Omit<Row, 'row' | 'place'>): void {
    if (this.#count === MAX_ROWS) {
      this.problem('too-many-rows');
      return;
    }
    this.#count += 1;
    this.emit({ row: this.#count, place, ...row });
  }

  #read(value: unknown, kind: 'created' | 'expires', from: number, to: number) {
    const instant = readInstant(value, this.options.zone ?? 'UTC');
    if (instant === null) return { time: null, notes: [] };
    const none = (note: Note) => ({ time: null, notes: [note] });
    if (instant === 'unreadable') return none(`${kind}-unreadable`);
    if (!instant.zoned) this.#unzoned += 1;
    const { time } = instant;
    return time >= from && time <= to ? { time, notes: [] } : none(`${kind}-dropped`);
  }
}

function isoOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function urlOf(text = ''): string | null {
  return text.length <= MAX_SHORT_URL && SHORT_URL.test(text) ? text : null;
}

function causeOf(destination: string): Cause | null {
  if (destination === '') return 'no-destination';
  return isLonger(destination, MAX_DESTINATION) ? 'destination-too-long' : null;
}

/** Replaces control characters by spaces and truncates the title. */
function cleanTitle(given: string): { title: string; notes: Note[] } {
  const trimmed = given.trim();
  const clean = trimmed.replace(CONTROLS, ' ');
  const title = cut(clean, MAX_TITLE);
  const notes: Note[] = [];
  if (clean !== trimmed) notes.push('title-cleaned');
  if (title !== clean) notes.push('title-cut');
  return { title, notes };
}

function cleanTags(given: readonly string[]): { tags: string[]; notes: Note[] } {
  const clean = given.map((tag) => tag.replace(CONTROLS, ' ').trim()).filter((tag) => tag !== '');
  const all = [...new Set(clean.map((tag) => cut(tag, MAX_TAG)))];
  const notes: Note[] = [];
  if (clean.some((tag) => isLonger(tag, MAX_TAG))) notes.push('tag-cut');
  if (all.length > MAX_TAGS) notes.push('tags-dropped');
  return { tags: all.slice(0, MAX_TAGS), notes };
}

/** Whether a text has more code points than the limit. Counts them only if that is possible. */
function isLonger(text: string, limit: number): boolean {
  return text.length > limit && codePoints(text) > limit;
}

function cut(text: string, limit: number): string {
  if (!isLonger(text, limit)) return text;
  return Array.from(text).slice(0, limit).join('').trim();
}
