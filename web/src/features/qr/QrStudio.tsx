import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../../components/Button';
import { Field } from '../../components/Field';
import { showToast } from '../../components/toast';
import { announce } from '../../lib/announce';
import { save } from '../../lib/save';
import { ColorPicker } from './ColorPicker';
import { mendColors } from './colors';
import { framed, loadDecoder, pictureOf, readPicture } from './decoder';
import { canCopyImages, copyImage, fileName, pngOf } from './download';
import { type Drawing, SIZE, svgOf } from './drawing';
import { LogoField } from './LogoField';
import { qrMessages, savedWords } from './messages';
import { QrCanvas } from './QrCanvas';
import styles from './QrStudio.module.css';
import { isBlank, symbolFor, wellFormed } from './symbol';
import { TextField } from './TextField';
import { useLogo } from './useLogo';
import { useIdleLoading, useReading } from './useReading';
import { useSettled } from './useSettled';
import { type Mend, VerdictLine } from './VerdictLine';
import { judge, type Reading, type Verdict } from './verdict';

const BLACK = '#000000';
const WHITE = '#ffffff';
const QUIET_ZONE = 4;
/** Pixels at which a vector drawing is held up to the decoder. */
const SVG_SIZE = 1_000;
/** Milliseconds for which a file that is to be saved waits for its check. */
const PATIENCE = 6_000;

type Picker = 'foreground' | 'background';
type Copied = 'idle' | 'copied' | 'refused';
const copyWords: Record<Copied, string> = {
  idle: 'Copy image',
  copied: 'Copied',
  refused: 'Not copied',
};

/** Everything happens here in the browser; nothing is sent. */
export function QrStudio({ initialText }: { initialText: string }) {
  const [name, setName] = useState('');
  const [text, setText] = useState(initialText);
  const [foreground, setForeground] = useState(BLACK);
  const [background, setBackground] = useState(WHITE);
  const [picker, setPicker] = useState<Picker | null>(null);
  const [quietZone, setQuietZone] = useState(false);
  const [copied, setCopied] = useState<Copied>('idle');
  const { state: logoState, choose, remove } = useLogo();
  const canvas = useRef<HTMLCanvasElement>(null);
  useIdleLoading();

  const logo = logoState.step === 2 ? logoState.logo : undefined;
  const typed = useMemo(() => symbolFor(wellFormed(text), logo !== undefined), [text, logo]);
  const [settled, settle] = useSettled(text);
  const content = wellFormed(settled);
  const symbol = useMemo(() => symbolFor(content, logo !== undefined), [content, logo]);
  const { level, leastVersion } = symbol;
  const margin = quietZone || background !== WHITE ? QUIET_ZONE : 0;
  const drawing = useMemo<Drawing>(
    () => ({ text: content, level, leastVersion, foreground, background, margin, logo }),
    [content, level, leastVersion, foreground, background, margin, logo],
  );

  const blank = isBlank(content);
  const tooLong = typed.modules === null || symbol.modules === null;
  const [reading, readAgain] = useReading(canvas, drawing, blank || tooLong);
  const modules = (symbol.modules ?? 0) + 2 * margin;
  const verdict = blank || tooLong ? null : judge({ ...drawing, modules, size: SIZE }, reading);

  const refused = (): boolean => {
    if (isBlank(text)) showToast(qrMessages.noLink);
    else if (tooLong) showToast(qrMessages.tooLong);
    else return false;
    return true;
  };

  /** What is saved is read first; it is given in any case, with a word where it may not scan. */
  const hand = async (ending: '.png' | '.svg', of: Drawing) => {
    if (!canvas.current) return;
    const vector = ending === '.svg';
    const file = vector ? svgOf(of) : await pngOf(canvas.current);
    const size = vector ? SVG_SIZE : SIZE;
    const result = await readFile(file, size);
    save(file, fileName(name, ending));
    const side = (symbolFor(of.text, of.logo !== undefined).modules ?? 0) + 2 * of.margin;
    const words = savedWords[judge({ ...of, modules: side, size }, result)];
    if (words) showToast(words);
  };

  const download = (ending: '.png' | '.svg') => {
    if (refused()) return;
    settle();
    hand(ending, { ...drawing, text: wellFormed(text) }).catch((error: unknown) =>
      console.error('The code was not saved', error),
    );
  };

  const copy = () => {
    if (refused() || !canvas.current) return;
    settle();
    void copyImage(pngOf(canvas.current)).then((done) => {
      const next = done ? 'copied' : 'refused';
      announce(copyWords[next]);
      setCopied(next);
      setTimeout(() => setCopied('idle'), 2_000);
    });
  };

  const repaint = () => {
    const mended = mendColors({ foreground, background });
    setForeground(mended.foreground);
    setBackground(mended.background);
  };
  const blackOnWhite = () => {
    setForeground(BLACK);
    setBackground(WHITE);
  };
  const removeImage: Mend = { words: 'Remove the image', act: remove };
  const mends: Partial<Record<Verdict, Mend>> = {
    inverted: { words: 'Swap the colors', act: repaint },
    close: { words: 'Mend the colors', act: repaint },
    dense: logo ? removeImage : { words: 'Save a large one as SVG', act: () => download('.svg') },
    unread: logo ? removeImage : { words: 'Use black on white', act: blackOnWhite },
    unchecked: { words: 'Try again', act: readAgain },
  };

  const closeOthers = useCallback(
    (which: Picker) => (open: boolean) =>
      setPicker((current) => (open ? which : current === which ? null : current)),
    [],
  );
  const setForegroundOpen = useMemo(() => closeOthers('foreground'), [closeOthers]);
  const setBackgroundOpen = useMemo(() => closeOthers('background'), [closeOthers]);

  return (
    <div className={styles.studio}>
      <div className={styles.controls}>
        <Field
          label="Name"
          type="text"
          placeholder="my-qr-code"
          autoComplete="off"
          dir="auto"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <TextField label="URL" value={text} onValue={setText} symbol={typed} />
        <LogoField state={logoState} choose={choose} remove={remove} />
        <div className={styles.pair}>
          <ColorPicker
            label="Color"
            color={foreground}
            onColor={setForeground}
            open={picker === 'foreground'}
            setOpen={setForegroundOpen}
          />
          <ColorPicker
            label="Background color"
            color={background}
            onColor={setBackground}
            open={picker === 'background'}
            setOpen={setBackgroundOpen}
          />
        </div>
        <label className={styles.switch}>
          <input
            type="checkbox"
            role="switch"
            checked={quietZone}
            onChange={(event) => setQuietZone(event.target.checked)}
          />
          Quiet zone, for dark surroundings
        </label>
        <div className={styles.actions}>
          <Button look="sign" onClick={() => download('.png')}>
            DOWNLOAD QR
          </Button>
          <Button onClick={() => download('.svg')}>SVG</Button>
          {canCopyImages() && <Button onClick={copy}>{copyWords[copied]}</Button>}
        </div>
      </div>
      <div className={styles.board}>
        {/* The library draws once more when its image comes, and that is read too. */}
        <div
          className={styles.code}
          style={tooLong || blank ? undefined : { backgroundColor: background }}
          onLoadCapture={readAgain}
        >
          {tooLong ? <TooLong /> : <QrCanvas ref={canvas} drawing={drawing} />}
          {blank && !tooLong && (
            <p className={styles.blank}>Enter a link and its code appears here.</p>
          )}
        </div>
        <VerdictLine
          verdict={verdict}
          mend={tooLong && logo ? removeImage : verdict && mends[verdict]}
          hint={tooLong && logo ? 'Without the image there is room for more.' : ''}
        />
      </div>
    </div>
  );
}

/** What is read in a file; undefined where that takes longer than a person should wait for it. */
async function readFile(file: Blob, size: number): Promise<Reading | undefined> {
  const read = async (): Promise<Reading> => {
    const decoder = await loadDecoder();
    return { text: await readPicture(decoder, framed(await pictureOf(file), size)) };
  };
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, PATIENCE));
  try {
    return await Promise.race([read(), late]);
  } catch (error) {
    console.warn('The file was not checked', error);
    return 'unavailable';
  }
}

/** Stands in place of the code. */
function TooLong() {
  useEffect(() => announce(qrMessages.tooLong), []);
  return <p className={styles.tooLong}>{qrMessages.tooLong}</p>;
}
