import { useMemo, useState } from 'react';
import type { FormWords } from './contents/kinds';
import { withoutTrailingBreaks } from './contents/pasted';
import { type Design, symbolOf } from './drawing';
import { useScanCode } from './scan/useScanCode';
import { PLAIN, type Style } from './style';
import { isBlank, symbolFor, wellFormed } from './symbol';
import { useLogo } from './useLogo';
import { useSettled } from './useSettled';

/** What the user has chosen: text, style and logo. */
export type Choices = ReturnType<typeof useDesign>;

/** Holds the text, the style and the logo, and derives the design that is drawn. */
export function useDesign(initialText: string) {
  const [text, setText] = useState(initialText);
  /** Messages of the form that wrote the text, for while it is incomplete; null for typed text. */
  const [form, setForm] = useState<FormWords | null>(null);
  const [style, setStyle] = useState(PLAIN);
  const logo = useLogo();
  const image = logo.state.step === 2 ? logo.state.logo : undefined;

  const [linkOfVisit] = useState(initialText);
  const scan = useScanCode(linkOfVisit);
  const [taken, setTaken] = useState('');
  // The scan code replaces the short URL once, if the field still contains that.
  if (scan.state === 'made' && taken !== scan.url) {
    setTaken(scan.url);
    if (text === scan.short) setText(scan.url);
  }

  const whole = form === null ? withoutTrailingBreaks(text) : text;
  const typed = useMemo(
    () => symbolFor(wellFormed(whole), image !== undefined, style.level),
    [whole, image, style.level],
  );
  const [settled, settle] = useSettled(whole);
  const content = wellFormed(settled);
  const design = useMemo<Design>(
    () => ({ text: content, style, logo: image }),
    [content, style, image],
  );
  const symbol = useMemo(() => symbolOf(design), [design]);

  return {
    text,
    write: (next: string, words: FormWords | null = null) => {
      setText(next);
      setForm(words);
    },
    form,
    scan,
    style,
    setStyle,
    change: (part: Partial<Style>) => setStyle((before) => ({ ...before, ...part })),
    logo,
    /** The symbol of the typed text. */
    typed,
    /** What is drawn. A long text is updated after a pause in typing, or at once by `settle`. */
    design,
    symbol,
    settle,
    /** Returns the design with the typed text, without the pause. */
    latest: (): Design => ({ ...design, text: wellFormed(whole) }),
    blank: isBlank(content),
    tooLong: typed.modules === null || symbol.modules === null,
  };
}
