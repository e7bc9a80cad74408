import { type ReactNode, useEffect, useId } from 'react';
import type { Logo } from '../drawing';
import { Spinner } from '../../../components/Spinner';
import { savesData } from '../../../lib/savesData';
import { usePart } from '../../../lib/usePart';
import { loadBatch } from '../batch/batch';
import { loadWorker } from '../batch/worker';
import { ContentPanel } from '../contents/ContentPanel';
import type { FormWords } from '../contents/kinds';
import type { Style } from '../style';
import { millimetresOf } from '../print';
import type { QrSymbol } from '../symbol';
import { FilePart } from './FilePart';
import { messages } from './messages';
import styles from './MoreOptions.module.css';
import { StylePart } from './StylePart';

export interface MoreOptionsProps {
  /** What the code says: the text of the page's own field. */
  text: string;
  /** Takes it, and what is said of the form that wrote it; null for a link. */
  onText: (text: string, words: FormWords | null) => void;
  /** How often a code was to be saved that could not be. */
  refusals: number;
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
  const { text, onText, symbol, name, logo, style, onStyle, pixels, width } = props;
  const batch = usePart(loadBatch, true);
  // The page then works without a network.
  useEffect(() => (savesData() ? undefined : loadWorker()), []);

  return (
    <div className={styles.parts}>
      <Part title={messages.content}>
        <ContentPanel text={text} onText={onText} refusals={props.refusals} symbol={symbol} />
      </Part>
      <StylePart style={style} onStyle={onStyle} />
      <FilePart
        pixels={pixels}
        onPixels={props.onPixels}
        width={width}
        onWidth={props.onWidth}
        savePdf={props.savePdf}
      />
      <Part title={messages.batch}>
        {batch ? (
          <batch.BatchPanel
            name={name}
            style={style}
            logo={logo}
            pixels={pixels}
            millimetres={millimetresOf(width)}
          />
        ) : (
          <Spinner label={messages.loadingBatch} />
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
