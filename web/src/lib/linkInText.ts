/**
 * Finds URLs in texts that people write.
 *
 * Unlike `cleanUrl`, which removes what surrounds a URL that someone pasted, it knows where a URL
 * ends within a sentence. The rules for ASCII are those of linkify-it.
 */

/**
 * A URL, and marks behind it that may belong to the text. White space, quotes, brackets of other
 * scripts and full-width punctuation end it. JavaScript has no property for full-width characters,
 * so these are punctuation and symbols of the blocks that contain them.
 */
const CANDIDATE =
  /https?:\/\/(?:[!#-;=?-_a-~]|’|(?!(?=[\u3000-\u303f\ufe10-\ufe6f\uff00-\uffef])[\p{P}\p{S}])[^\x00-\x7f\s\p{Cc}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Quotation_Mark}])+/giu;
/** The partner of each bracket that a URL may contain. */
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
const MARK = /[\p{Terminal_Punctuation}\p{Cf}…]/u;
const APOSTROPHE = /['’]/;

/** Returns the first http(s) URL in a text, without what belongs to the sentence, or null. */
export function linkInText(text: string): string | null {
  for (const [candidate] of text.matchAll(CANDIDATE)) {
    const link = withoutMarks(candidate.slice(0, endOfPaired(candidate)));
    if (URL.canParse(link)) return link;
  }
  return null;
}

/** Returns where the first bracket without a partner is, or the length of the text. */
function endOfPaired(text: string): number {
  const open: { index: number; closing: string }[] = [];
  for (const { 0: bracket, index } of text.matchAll(/[()[\]{}]/g)) {
    const closing = CLOSING[bracket];
    if (closing !== undefined) open.push({ index, closing });
    else if (open.at(-1)?.closing === bracket) open.pop();
    else return open[0]?.index ?? index;
  }
  return open[0]?.index ?? text.length;
}

/** Removes the final marks of a sentence, and an apostrophe that is a quote without a partner. */
function withoutMarks(text: string): string {
  const characters = Array.from(text);
  let apostrophes = characters.filter((character) => APOSTROPHE.test(character)).length;
  for (let last = characters.at(-1); last !== undefined; last = characters.at(-1)) {
    const isQuote = APOSTROPHE.test(last) && apostrophes % 2 === 1;
    if (!isQuote && !MARK.test(last)) break;
    if (isQuote) apostrophes -= 1;
    characters.pop();
  }
  return characters.join('');
}
