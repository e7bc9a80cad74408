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

/** The ECI assignment number of UTF-8. */
const UTF_8 = 26;

/**
 * Returns the modules of the symbol of a text. Throws if the text does not fit.
 *
 * For ASCII text, it is the symbol that qrcode.react draws, including the data mask: both use the
 * same generator. qrcode.react exports neither its modules nor ECI designators.
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
