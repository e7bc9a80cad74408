import qrcodegen from 'nayuki-qr-code-generator';
import { type Level, needsEci, type QrSymbol } from './symbol';

/** Rows of modules; true is dark. */
export type Modules = readonly (readonly boolean[])[];

const { QrCode, QrSegment } = qrcodegen;

const correction: Record<Level, qrcodegen.QrCode.Ecc> = {
  L: QrCode.Ecc.LOW,
  M: QrCode.Ecc.MEDIUM,
  Q: QrCode.Ecc.QUARTILE,
  H: QrCode.Ecc.HIGH,
};

/** The number of UTF-8 among the Extended Channel Interpretations. */
const UTF_8 = 26;

/**
 * Returns the modules of a text's symbol. Of ASCII text it is the symbol that qrcode.react draws,
 * masks included: both use the same generator, and qrcode.react exports neither its modules nor
 * designators. Throws where the text does not fit.
 */
export function modulesOf(text: string, { level, raised, leastVersion }: QrSymbol): Modules {
  const segments = QrSegment.makeSegments(text);
  if (needsEci(text)) segments.unshift(QrSegment.makeEci(UTF_8));
  const code = QrCode.encodeSegments(
    segments,
    correction[level],
    leastVersion,
    QrCode.MAX_VERSION,
    -1,
    raised,
  );
  const places = Array.from({ length: code.size }, (_, at) => at);
  return places.map((y) => places.map((x) => code.getModule(x, y)));
}
