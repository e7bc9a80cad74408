import { codePoints } from '../../lib/text';

const MOST_TAGS = 10;
const LONGEST_TAG = 30;

/** The tags of a text in which commas stand between them, none twice. */
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

/** Both lists as one, none twice. */
export function withTags(tags: readonly string[], more: readonly string[]): string[] {
  return [...new Set([...tags, ...more])];
}

export function areTags(tags: readonly string[]): boolean {
  return tags.length <= MOST_TAGS && tags.every((tag) => codePoints(tag) <= LONGEST_TAG);
}
