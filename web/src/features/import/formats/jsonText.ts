/** Parses JSON with common faults of exports: raw control characters, and concatenated pages. */

/** Maximum depth of brackets around an entry. */
const MAX_DEPTH = 5;
const CONTROL = /[\u0000-\u001f]/g;

interface ParsedJson {
  values: unknown[];
  /** Whether control characters were escaped. */
  isRepaired: boolean;
  /** Whether something could not be parsed. */
  isBroken: boolean;
}

export function parseJson(text: string): ParsedJson {
  try {
    return { values: [JSON.parse(text)], isRepaired: false, isBroken: false };
  } catch {
    return parseParts(text);
  }
}

function parseParts(text: string): ParsedJson {
  const values: unknown[] = [];
  let [isRepaired, isBroken] = [false, false];
  for (const part of partsOf(text)) {
    const escaped = escapeControls(part);
    try {
      values.push(JSON.parse(escaped));
      isRepaired ||= escaped !== part;
    } catch {
      isBroken = true;
    }
  }
  return { values, isRepaired, isBroken };
}

/**
 * Returns the top-level objects and lists of a text.
 *
 * An unfinished one comes last. Before it comes its complete part, with its brackets closed.
 */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  const sign = /["{[\]}]/g;
  /** Closing brackets of the open ones. */
  const open: string[] = [];
  let start = 0;
  let complete = '';
  let completeEnd = 0;
  for (let match = sign.exec(text); match; match = sign.exec(text)) {
    const { 0: found, index } = match;
    if (found === '"') sign.lastIndex = endOfString(text, index);
    else if (found === '{' || found === '[') {
      if (open.length === 0) start = index;
      open.push(found === '{' ? '}' : ']');
    } else if (open.pop() !== undefined) {
      completeEnd = index + 1;
      if (open.length === 0) parts.push(text.slice(start, completeEnd));
      else if (open.length <= MAX_DEPTH) complete = open.toReversed().join('');
    }
  }
  if (open.length > 0 && completeEnd > start) parts.push(text.slice(start, completeEnd) + complete);
  if (open.length > 0 || parts.length === 0) parts.push(text.slice(start));
  return parts;
}

/** Escapes control characters inside strings. */
function escapeControls(text: string): string {
  const pieces: string[] = [];
  let at = 0;
  for (let start = text.indexOf('"'); start !== -1; start = text.indexOf('"', at)) {
    const end = endOfString(text, start);
    pieces.push(text.slice(at, start), text.slice(start, end).replace(CONTROL, escapeControl));
    at = end;
  }
  return pieces.join('') + text.slice(at);
}

function escapeControl(control: string): string {
  return `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Returns the index after the string that begins here. Uses no regular expression: strings can have
 * megabytes.
 */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote === -1 ? text.length : quote + 1;
}

/** Whether an odd number of backslashes precedes this index. */
function isEscaped(text: string, index: number): boolean {
  let before = index - 1;
  while (text.charAt(before) === '\\') before -= 1;
  return (index - before) % 2 === 0;
}
