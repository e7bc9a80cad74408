import { useEffect, useEffectEvent, useState } from 'react';
import { framed, loadDecoder, measurePicture, pictureOf } from './decoder';
import { type Design, type Drawing, SIZE } from './drawing';
import { betterDesigns, type Improvement } from './mends';
import { svgOf } from './svg';
import { judge } from './verdict';

/**
 * Returns the first change that makes a design scan well: null if none does, undefined while that
 * is not known. Tries the changes of `betterDesigns` in turn, and none unless `needed`.
 */
export function useMend(
  design: Design,
  needed: boolean,
  draw: (design: Design) => Drawing,
): Improvement | null | undefined {
  const [found, setFound] = useState<{ of: Design; better: Improvement | null }>();

  const scansWell = useEffectEvent(async (tried: Design): Promise<boolean | null> => {
    const drawn = { ...tried, size: SIZE };
    // If the design itself fails a rule, its picture need not be read.
    if (judge(drawn, { text: tried.text, lost: null }) !== 'well') return false;
    const file = new Blob([svgOf(draw(tried))], { type: 'image/svg+xml' });
    const picture = framed(await pictureOf(file), SIZE);
    const reading = await measurePicture(await loadDecoder(), picture);
    return reading && judge(drawn, reading) === 'well';
  });

  useEffect(() => {
    if (!needed) return undefined;
    let current = true;
    const search = async () => {
      for (const better of betterDesigns(design)) {
        const well = await scansWell(better.design);
        // A newer design is being measured.
        if (!current || well === null) return;
        if (well) {
          setFound({ of: design, better });
          return;
        }
      }
      setFound({ of: design, better: null });
    };
    search().catch((error: unknown) => console.warn('No mend was found', error));
    return () => {
      current = false;
    };
  }, [design, needed]);

  return needed && found?.of === design ? found.better : undefined;
}
