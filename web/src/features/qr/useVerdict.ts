import type { RefObject } from 'react';
import { actions } from '../../components/messages';
import { contrasted, mendStyle } from './colors';
import type { FileFormat } from './download';
import { type Design, type Drawing, SIZE } from './drawing';
import { fixes } from './messages';
import { BLACK, isPlainDrawing, PLAIN, WHITE } from './style';
import type { Choices } from './useDesign';
import { useMend } from './useMend';
import { useReading } from './useReading';
import type { Mend } from './VerdictLine';
import { judge, type Verdict } from './verdict';

/** Returns the verdict on the code on the canvas, and a fix. `readAgain` repeats the check. */
export function useVerdict(
  canvas: RefObject<HTMLCanvasElement | null>,
  choices: Choices,
  draw: (design: Design) => Drawing,
  download: (format: FileFormat) => void,
) {
  const { design, blank, tooLong, style, setStyle, change } = choices;
  const { logo } = design;
  const [reading, readAgain] = useReading(canvas, design, blank || tooLong);
  const verdict = blank || tooLong ? null : judge({ ...design, size: SIZE }, reading);
  const better = useMend(design, verdict === 'care', draw);

  const repaint = () => setStyle(contrasted(mendStyle(style)));
  const removeImage: Mend = { words: fixes.removeImage, act: () => choices.logo.set(undefined) };
  const automatic: Mend = {
    words: fixes.automaticErrorCorrection,
    act: () => change({ level: null }),
  };
  const plain: Mend = isPlainDrawing(style)
    ? {
        words: fixes.blackOnWhite,
        act: () => change({ foreground: BLACK, background: WHITE }),
      }
    : { words: fixes.plainStyle, act: () => setStyle(PLAIN) };
  const saveLarge: Mend = {
    words: fixes.svg,
    act: () => download({ ending: '.svg' }),
  };
  const useBetter: Mend | null | undefined = better && {
    words: better.words,
    act: () => {
      setStyle(better.design.style);
      if (better.design.logo !== logo) choices.logo.set(better.design.logo);
    },
  };
  const mends: Partial<Record<Verdict, Mend>> = {
    ...(useBetter !== undefined && { care: useBetter ?? saveLarge }),
    inverted: { words: fixes.swapColors, act: repaint },
    close: { words: fixes.colors, act: repaint },
    dense: logo ? removeImage : saveLarge,
    unread: !logo ? plain : style.level === null ? removeImage : automatic,
    unchecked: { words: actions.tryAgain, act: readAgain },
  };
  const isLevelRaised = style.level !== null && style.level !== 'L';
  const lighter = logo ? removeImage : isLevelRaised ? automatic : null;

  return { verdict, mend: tooLong ? lighter : verdict && mends[verdict], readAgain };
}
