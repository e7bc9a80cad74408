import { useEffect, useRef, useState } from 'react';
import { showToast } from '../../components/toast';
import { qrMessages } from './messages';

/** Drawn in the center, fitted into a square of this many pixels. */
export const LOGO_SIZE = 100;

export interface Logo {
  /** As a data URL. */
  src: string;
  width: number;
  height: number;
}

/** 0: none, 1: loading, 2: loaded. */
export type LogoState = { step: 0 } | { step: 1 } | { step: 2; logo: Logo };

interface UseLogo {
  state: LogoState;
  choose: (file: File | null | undefined) => void;
  remove: () => void;
}

export function useLogo(): UseLogo {
  const [state, setState] = useState<LogoState>({ step: 0 });
  const latest = useRef(0);
  useEffect(
    () => () => {
      latest.current = -1;
    },
    [],
  );

  const choose = (file: File | null | undefined) => {
    if (!file) return;
    if (!file.type.startsWith('image/')) {
      showToast(qrMessages.badFile);
      return;
    }
    const before = state;
    const mine = (latest.current += 1);
    setState({ step: 1 });
    readLogo(file).then(
      (logo) => {
        if (latest.current === mine) setState({ step: 2, logo });
      },
      (error: unknown) => {
        if (latest.current !== mine) return;
        console.error(error);
        showToast(qrMessages.badFile);
        setState(before.step === 2 ? before : { step: 0 });
      },
    );
  };

  const remove = () => {
    latest.current += 1;
    setState({ step: 0 });
  };

  return { state, choose, remove };
}

async function readLogo(file: File): Promise<Logo> {
  const src = await readDataUrl(file);
  const image = new Image();
  image.src = src;
  await image.decode();
  // A drawing without a size of its own fills the square.
  const { naturalWidth: width, naturalHeight: height } = image;
  const longer = Math.max(width, height);
  if (longer === 0) return { src, width: LOGO_SIZE, height: LOGO_SIZE };
  const scale = LOGO_SIZE / longer;
  return { src, width: width * scale, height: height * scale };
}

function readDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error('The file was not read'));
    reader.readAsDataURL(file);
  });
}
