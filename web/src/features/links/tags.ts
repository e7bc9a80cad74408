import { codePoints } from '../../lib/text';

const MAX_TAGS = 10;
const MAX_TAG = 30;

/** Returns the distinct tags of a text, which commas separate. */
export function readTags(text: string): string[] {
  return [
    ...new Set(
      text
        .split(',')
        .map((tag) => tag.trim())
        .filter((tag) => tag !== ''),
    ),
  ];
}

/** Returns both lists as one without duplicates. */
export function withTags(tags: readonly string[], more: readonly string[]): string[] {
  return [...new Set([...tags, ...more])];
}

export function areTags(tags: readonly string[]): boolean {
  return tags.length <= MAX_TAGS && tags.every((tag) => codePoints(tag) <= MAX_TAG);
}
