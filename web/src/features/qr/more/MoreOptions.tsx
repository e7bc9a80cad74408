import { useEffect } from 'react';
import type { Style } from '../style';
import { FilePart } from './FilePart';
import { loadPdf } from './files';
import styles from './MoreOptions.module.css';
import { StylePart } from './StylePart';

export interface MoreOptionsProps {
  style: Style;
  onStyle: (style: Style) => void;
  /** Pixels along a side of the PNG that DOWNLOAD QR saves. */
  pixels: number;
  onPixels: (pixels: number) => void;
  savePdf: (millimetres: number) => void;
}

/** What stands below the plain page, for those who want more of it. */
export function MoreOptions({ style, onStyle, pixels, onPixels, savePdf }: MoreOptionsProps) {
  // The page then works without a network.
  useEffect(() => {
    loadPdf().catch((error: unknown) => console.warn('The PDF writer did not load', error));
  }, []);

  return (
    <div className={styles.parts}>
      <StylePart style={style} onStyle={onStyle} />
      <FilePart pixels={pixels} onPixels={onPixels} savePdf={savePdf} />
    </div>
  );
}
