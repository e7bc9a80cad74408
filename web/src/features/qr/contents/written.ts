/** The values of a form; '' for a field that is not filled in. */
export type Filled<Field extends string> = Readonly<Record<Field, string>>;

/** Error messages of fields, shown below them. */
export type Faults<Field extends string> = { [field in Field]?: string | undefined };

/** The text of a code, or the faults that prevent one. */
export type Written<Field extends string> = { text: string } | { faults: Faults<Field> };

/** The value of a checked checkbox. */
export const TICKED = 'yes';

/** Writes the text if no field has a fault. */
export function unlessFaulty<Field extends string>(
  faults: Faults<Field>,
  write: () => string,
): Written<Field> {
  const faulty = Object.values(faults).some((fault) => fault !== undefined);
  return faulty ? { faults } : { text: write() };
}
