import { useMemo, useState } from 'react';
import type { FormWords } from './contents/kinds';
import { withoutTrailingBreaks } from './contents/pasted';
import { type Design, symbolOf } from './drawing';
import { useScanCode } from './scan/useScanCode';
import { PLAIN, type Style } from './style';
import { isBlank, symbolFor, wellFormed } from './symbol';
import { useLogo } from './useLogo';
import { useSettled } from './useSettled';

/** What a person has chosen: text, style and logo. */
export type Choices = ReturnType<typeof useDesign>;

/** The state of what a code is made of, and the design that is drawn of it. */
export function useDesign(initialText: string) {
  const [text, setText] = useState(initialText);
  /** What the form that wrote the text says while it is not whole; null for text of a person. */
  const [form, setForm] = useState<FormWords | null>(null);
  const [style, setStyle] = useState(PLAIN);
  const logo = useLogo();
  const image = logo.state.step === 2 ? logo.state.logo : undefined;

  const [linkOfVisit] = useState(initialText);
  const scan = useScanCode(linkOfVisit);
  const [taken, setTaken] = useState('');
  // It replaces the short URL once, where the field still has that.
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
    /** The symbol of what is typed. */
    typed,
    /** What is drawn. A long text follows what is typed after a pause, or at once by `settle`. */
    design,
    symbol,
    settle,
    /** What would be drawn without a pause. */
    latest: (): Design => ({ ...design, text: wellFormed(whole) }),
    blank: isBlank(content),
    tooLong: typed.modules === null || symbol.modules === null,
  };
}
