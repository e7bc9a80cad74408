/**
 * Removes the characters around a pasted URL, and never changes its inside.
 *
 * The backend has the same rule, which services/links/domain/url_cleaning.py explains.
 * tests/links/url_cases.json tests both.
 */

const OPENING = '([{<（〈《【';
const CLOSING = ')]}>）〉》】';
const DOUBLE_QUOTES = '"“”„‟«»「」『』〝〞〟';
const SINGLE_QUOTES = "'`´‘’‚‛‹›";
const NEVER_AT_START = /^(?:[\s\p{Cf}·•‣⁃∙■□▪▫▶►◆◇○●◦]|[-+*–—][\s\p{Cf}])/u;
const NEVER_AT_END = /^[\s\p{Cf}·•‣⁃∙■□▪▫▶►◆◇○●◦]/u;
const IPV6 = /^\[[0-9a-f.]*:[0-9a-f:.]*\]/i;

export function cleanUrl(text: string): string {
  const all = Array.from(text);
  const partners = partnersOf(all);
  const quotes: Record<string, number> = {};
  for (const one of all) count(one, 1);
  let start = 0;
  let end = all.length;

  function count(character: string, change: number) {
    const kind = quoteKind(character);
    quotes[kind] = (quotes[kind] ?? 0) + change;
  }
  const isAlone = (index: number) => {
    const one = all[index] ?? '';
    if ((OPENING + CLOSING).includes(one)) return !partners.has(index);
    const kind = quoteKind(one);
    return kind ? (quotes[kind] ?? 0) % 2 === 1 : one === '*' && index === start;
  };

  while (start < end) {
    const [first = '', last = ''] = [all[start], all[end - 1]];
    const kind = quoteKind(first);
    const isEnclosed = OPENING.includes(first)
      ? partners.get(start) === end - 1 && !IPV6.test(all.slice(start, end).join(''))
      : start < end - 1 && (kind ? kind === quoteKind(last) : first + last === '**');
    if (NEVER_AT_START.test(first + (all[start + 1] ?? ''))) start += 1;
    else if (NEVER_AT_END.test(last)) end -= 1;
    else if (isEnclosed) [start, end] = [start + 1, end - 1];
    else if (isAlone(start)) count(all[start++] ?? '', -1);
    else if (isAlone(end - 1)) count(all[--end] ?? '', -1);
    else break;
  }
  return all.slice(start, end).join('');
}

/** Returns all quotes of the same kind, '' if the character is not a quote. */
function quoteKind(character: string): string {
  return [DOUBLE_QUOTES, SINGLE_QUOTES].find((kind) => kind.includes(character)) ?? '';
}

/** Returns the index of the partner of each bracket that has one. */
function partnersOf(characters: readonly string[]): Map<number, number> {
  const partners = new Map<number, number>();
  const open = Array.from(OPENING, (): number[] => []);
  characters.forEach((character, index) => {
    open[OPENING.indexOf(character)]?.push(index);
    const partner = open[CLOSING.indexOf(character)]?.pop();
    if (partner !== undefined) partners.set(index, partner).set(partner, index);
  });
  return partners;
}
