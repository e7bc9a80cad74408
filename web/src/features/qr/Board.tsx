import { type RefObject, useEffect } from 'react';
import { announce } from '../../lib/announce';
import styles from './Board.module.css';

import { type Design, type Drawing, sideOf } from './drawing';
import { DrawnCanvas } from './DrawnCanvas';
import { messages } from './messages';
import { reachWords } from './print';
import { QrCanvas } from './QrCanvas';
import { isPlainDrawing, marginOf } from './style';
import { needsEci } from './symbol';
import type { Choices } from './useDesign';
import { type Mend, VerdictLine } from './VerdictLine';
import type { Verdict } from './verdict';

interface BoardProps {
  canvas: RefObject<HTMLCanvasElement | null>;
  choices: Choices;
  draw: (design: Design) => Drawing;
  verdict: Verdict | null;
  mend: Mend | null | undefined;
  readAgain: () => void;
  /** Width of a print; null if it is invalid. */
  millimetres: number | null;
}

/** Shows the code and its verdict. */
export function Board(props: BoardProps) {
  const { canvas, choices, draw, verdict, mend, readAgain, millimetres } = props;
  const { design, symbol, style, blank, tooLong, form } = choices;
  // qrcode.react supports neither other styles nor ECI.
  const isDrawn = !blank && (!isPlainDrawing(style) || needsEci(design.text));
  const scans = verdict === 'well' || verdict === 'care';
  const side = sideOf(symbol.modules ?? 0, style);
  return (
    <div className={styles.board}>
      {/* qrcode.react redraws when its image has loaded; that is read, too. */}
      <div
        className={styles.code}
        style={tooLong || blank ? undefined : { backgroundColor: style.background }}
        onLoadCapture={readAgain}
      >
        {tooLong ? (
          <TooLong />
        ) : isDrawn ? (
          <DrawnCanvas canvas={canvas} design={design} draw={draw} />
        ) : (
          <QrCanvas ref={canvas} design={design} />
        )}
        {blank && !tooLong && <p className={styles.blank}>{form?.empty ?? messages.empty}</p>}
      </div>
      <VerdictLine
        verdict={verdict}
        needsWhite={marginOf(style) === 0}
        mend={mend}
        reach={scans && millimetres !== null ? reachWords(millimetres, side) : ''}
        hint={tooLong && design.logo ? messages.tooLongHint : ''}
      />
    </div>
  );
}

/** Replaces the code. Announced to screen readers. */
function TooLong() {
  useEffect(() => announce(messages.tooLong), []);
  return <p className={styles.tooLong}>{messages.tooLong}</p>;
}
