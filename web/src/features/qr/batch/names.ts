import { type FileEnding, fileName } from '../download';

/**
 * Returns unique file names that are valid on every system, one for each given name. A name that is
 * taken, ignoring case, gets a number.
 */
export function uniqueNames(given: readonly string[], ending: FileEnding): string[] {
  const taken = new Set<string>();
  return given.map((name) => {
    const whole = fileName(name, ending);
    const stem = whole.slice(0, -ending.length);
    let unique = whole;
    for (let count = 2; taken.has(unique.toLowerCase()); count += 1) {
      unique = `${stem}-${count}${ending}`;
    }
    taken.add(unique.toLowerCase());
    return unique;
  });
}
