import { type RefObject, useState } from 'react';
import { showToast } from '../../components/toast';
import { announce } from '../../lib/announce';
import { save } from '../../lib/save';
import { copyImage, fileName, pngOf, type Wanted } from './download';
import type { Design } from './drawing';
import { checkFile, makeFile } from './files';
import { messages, saved } from './messages';
import { isBlank } from './symbol';
import type { Choices } from './useDesign';
import type { More } from './useOptions';

type Copied = 'idle' | 'copied' | 'refused';
export const copyWords: Record<Copied, string> = {
  idle: messages.copyImage,
  copied: messages.copied,
  refused: messages.notCopied,
};

/** Downloads a code and copies its image. `refusals` counts the tries without a code to save. */
export function useSaving(
  canvas: RefObject<HTMLCanvasElement | null>,
  name: string,
  choices: Choices,
  more: More | null,
) {
  const [copied, setCopied] = useState<Copied>('idle');
  const [refusals, setRefusals] = useState(0);

  const refused = (): boolean => {
    if (isBlank(choices.text)) showToast(choices.form?.refused ?? messages.noLink);
    else if (choices.tooLong) showToast(messages.tooLong);
    else return false;
    setRefusals(refusals + 1);
    return true;
  };

  /** Saves a file after its check in any case, and says where it may not scan. */
  const hand = async (wanted: Wanted, design: Design) => {
    if (!canvas.current) return;
    const made = await makeFile(wanted, design, canvas.current, more);
    const fault = await checkFile(made, design);
    save(made.file, fileName(name, wanted.ending));
    if (fault) showToast(saved[fault]);
  };

  const download = (wanted: Wanted) => {
    if (refused()) return;
    choices.settle();
    hand(wanted, choices.latest()).catch((error: unknown) => {
      console.error('The code was not saved', error);
      showToast(messages.notSaved);
    });
  };

  const copy = () => {
    if (refused() || !canvas.current) return;
    choices.settle();
    void copyImage(pngOf(canvas.current)).then((done) => {
      const next = done ? 'copied' : 'refused';
      announce(copyWords[next]);
      setCopied(next);
      setTimeout(() => setCopied('idle'), 2_000);
    });
  };

  return { download, copy, copied, refusals };
}
