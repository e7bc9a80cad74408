/** How much text a QR code of the largest version holds, by error correction level. */
export type Level = 'L' | 'M' | 'Q' | 'H';

const capacities: Record<Level, { digits: number; capitals: number; bytes: number }> = {
  L: { digits: 7089, capitals: 4296, bytes: 2953 },
  M: { digits: 5596, capitals: 3391, bytes: 2331 },
  Q: { digits: 3993, capitals: 2420, bytes: 1663 },
  H: { digits: 3057, capitals: 1852, bytes: 1273 },
};

/** A logo hides modules, so a code that carries one corrects as many errors as its text leaves room for. */
const withLogo: Level[] = ['H', 'Q', 'M'];
const plain: Level[] = ['L'];

/** The level to draw a text at, or null where no level in use holds it. */
export function levelFor(text: string, hasLogo: boolean): Level | null {
  return (hasLogo ? withLogo : plain).find((level) => fits(text, level)) ?? null;
}

function fits(text: string, level: Level): boolean {
  const { digits, capitals, bytes } = capacities[level];
  if (/^[0-9]*$/.test(text)) return text.length <= digits;
  if (/^[A-Z0-9 $%*+./:-]*$/.test(text)) return text.length <= capitals;
  return new TextEncoder().encode(text).length <= bytes;
}

/** Half a character (a lone surrogate) cannot be encoded; it becomes the sign for what is missing. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
