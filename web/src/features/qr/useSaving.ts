import { type RefObject, useState } from 'react';
import { showToast } from '../../components/toast';
import { announce } from '../../lib/announce';
import { save } from '../../lib/save';
import { copyImage, type FileFormat, fileName, pngOf } from './download';
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

/** Downloads a code and copies its image. `refusals` counts attempts without a valid code. */
export function useSaving(
  canvas: RefObject<HTMLCanvasElement | null>,
  name: string,
  choices: Choices,
  more: More | null,
) {
  const [copied, setCopied] = useState<Copied>('idle');
  const [refusals, setRefusals] = useState(0);

  const isRefused = (): boolean => {
    if (isBlank(choices.text)) showToast(choices.form?.refused ?? messages.noLink);
    else if (choices.tooLong) showToast(messages.tooLong);
    else return false;
    setRefusals(refusals + 1);
    return true;
  };

  /** Checks and saves a file. Saves it even if it may not scan, and says so. */
  const checkAndSave = async (format: FileFormat, design: Design) => {
    if (!canvas.current) return;
    const made = await makeFile(format, design, canvas.current, more);
    const fault = await checkFile(made, design);
    save(made.file, fileName(name, format.ending));
    if (fault) showToast(saved[fault]);
  };

  const download = (format: FileFormat) => {
    if (isRefused()) return;
    choices.settle();
    checkAndSave(format, choices.latest()).catch((error: unknown) => {
      console.error('The code was not saved', error);
      showToast(messages.notSaved);
    });
  };

  const copy = () => {
    if (isRefused() || !canvas.current) return;
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
