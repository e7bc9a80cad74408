/** What a form holds: a text for each of its fields, '' where nothing was filled in. */
export type Filled<Field extends string> = Readonly<Record<Field, string>>;

/** What is wrong with fields, in words that stand below them. */
export type Faults<Field extends string> = { [field in Field]?: string | undefined };

/** The text of a code, or why there is none yet. */
export type Written<Field extends string> = { text: string } | { faults: Faults<Field> };

/** A box that is ticked, as a form holds it. */
export const TICKED = 'yes';

/** Writes a text where none of the fields has a fault. */
export function unlessFaulty<Field extends string>(
  faults: Faults<Field>,
  write: () => string,
): Written<Field> {
  const faulty = Object.values(faults).some((fault) => fault !== undefined);
  return faulty ? { faults } : { text: write() };
}
