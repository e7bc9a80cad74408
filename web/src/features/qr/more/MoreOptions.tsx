import { type ReactNode, useEffect, useId } from 'react';
import { Spinner } from '../../../components/Spinner';
import { usePart } from '../../../lib/usePart';
import { loadBatch } from '../batch/batch';
import { ContentPanel } from '../contents/ContentPanel';
import type { Style } from '../style';
import type { QrSymbol } from '../symbol';
import type { Logo } from '../useLogo';
import { FilePart } from './FilePart';
import { loadPdf } from './files';
import styles from './MoreOptions.module.css';
import { StylePart } from './StylePart';

export interface MoreOptionsProps {
  /** What the code says: the text of the page's own field. */
  text: string;
  onText: (text: string) => void;
  symbol: QrSymbol;
  /** Of the file to save, as the person gave it. */
  name: string;
  logo: Logo | undefined;
  style: Style;
  onStyle: (style: Style) => void;
  /** Pixels along a side of the PNG that DOWNLOAD QR saves. */
  pixels: number;
  onPixels: (pixels: number) => void;
  /** Of a print in millimetres, as the person gave it. */
  width: string;
  onWidth: (width: string) => void;
  savePdf: (millimetres: number) => void;
}

/** What stands below the plain page, for those who want more of it. */
export function MoreOptions(props: MoreOptionsProps) {
  const { text, onText, symbol, name, logo, style, onStyle, pixels } = props;
  const batch = usePart(loadBatch, true);
  // The page then works without a network.
  useEffect(() => {
    loadPdf().catch((error: unknown) => console.warn('The PDF writer did not load', error));
  }, []);

  return (
    <div className={styles.parts}>
      <Part title="Content">
        <ContentPanel text={text} onText={onText} symbol={symbol} />
      </Part>
      <StylePart style={style} onStyle={onStyle} />
      <FilePart
        pixels={pixels}
        onPixels={props.onPixels}
        width={props.width}
        onWidth={props.onWidth}
        savePdf={props.savePdf}
      />
      <Part title="Batch">
        {batch ? (
          <batch.BatchPanel name={name} style={style} logo={logo} pixels={pixels} />
        ) : (
          <Spinner label="Loading the batch" />
        )}
      </Part>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section className={styles.part} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
