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
  /** The text of the code, which is in the page's URL field. */
  text: string;
  /** Sets the text, with the messages of the form that wrote it; null for a link. */
  onText: (text: string, words: FormWords | null) => void;
  /** Number of attempts to save without a valid code. */
  refusals: number;
  symbol: QrSymbol;
  /** File name, as typed. */
  name: string;
  logo: Logo | undefined;
  style: Style;
  onStyle: (style: Style) => void;
  /** Pixels along a side of the PNG that DOWNLOAD QR saves. */
  pixels: number;
  onPixels: (pixels: number) => void;
  /** Print width in millimeters, as typed. */
  width: string;
  onWidth: (width: string) => void;
  savePdf: (millimetres: number) => void;
}

/** The content of 'More options': content types, style, files and batch. */
export function MoreOptions(props: MoreOptionsProps) {
  const { text, onText, symbol, name, logo, style, onStyle, pixels, width } = props;
  const batch = usePart(loadBatch, true);
  // From then on the page works without a network.
  useEffect(() => (savesData() ? undefined : loadWorker()), []);

  return (
    <div className={styles.parts}>
      <Part title={messages.content}>
        <ContentPanel text={text} onText={onText} refusals={props.refusals} symbol={symbol} />
      </Part>
      <StylePart style={style} onStyle={onStyle} />
      <FilePart
        style={style}
        onStyle={onStyle}
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
            onStyle={onStyle}
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
