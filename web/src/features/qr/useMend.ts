import { useEffect, useEffectEvent, useState } from 'react';
import { framed, loadDecoder, measurePicture, pictureOf } from './decoder';
import { type Design, type Drawing, sideOf, SIZE, symbolOf } from './drawing';
import { type Better, betterDesigns } from './mends';
import { svgOf } from './svg';
import { judge } from './verdict';

/**
 * What makes a design scan well: the first of a few that a try shows to do so, null where none
 * does, undefined while that is not known. Nothing is tried of one that needs no mending.
 */
export function useMend(
  design: Design,
  needed: boolean,
  draw: (design: Design) => Drawing,
): Better | null | undefined {
  const [found, setFound] = useState<{ of: Design; better: Better | null }>();

  const scansWell = useEffectEvent(async (tried: Design): Promise<boolean | null> => {
    const file = new Blob([svgOf(draw(tried))], { type: 'image/svg+xml' });
    const picture = framed(await pictureOf(file), SIZE);
    const reading = await measurePicture(await loadDecoder(), picture);
    const side = sideOf(symbolOf(tried).modules ?? 0, tried.style);
    return reading && judge({ ...tried, side, size: SIZE }, reading) === 'well';
  });

  useEffect(() => {
    if (!needed) return undefined;
    let current = true;
    const search = async () => {
      for (const better of betterDesigns(design)) {
        const well = await scansWell(better.design);
        // Another design is measured by now, and this one's time is over.
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
