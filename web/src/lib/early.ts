/**
 * What a visitor pressed or chose in the document of a public page before the scripts ran, in order:
 * an element, and the value of a select. boot.js collects it as long as this exists.
 */
declare global {
  interface Window {
    early?: [HTMLElement, string?][] | undefined;
  }
}

/** Repeats the early presses and choices. Call it once the page handles events. */
export function repeatEarly(): void {
  const early = window.early ?? [];
  window.early = undefined;
  for (const [element, value] of early) {
    if (!(element instanceof HTMLSelectElement)) {
      element.click();
    } else if (value !== undefined) {
      element.value = value;
      element.dispatchEvent(new Event('change', { bubbles: true }));
    }
  }
}
