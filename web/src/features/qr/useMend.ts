import { useEffect, useEffectEvent, useState } from 'react';
import { framed, loadDecoder, measurePicture, pictureOf } from './decoder';
import { type Design, type Drawing, SIZE } from './drawing';
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
    const drawn = { ...tried, size: SIZE };
    // What a picture cannot better needs none.
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
