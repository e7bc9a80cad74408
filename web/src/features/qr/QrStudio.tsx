import { useCallback, useEffect, useId, useMemo, useRef, useState } from 'react';
import { Button } from '../../components/Button';
import { Field } from '../../components/Field';
import { Spinner } from '../../components/Spinner';
import { showToast } from '../../components/toast';
import { announce } from '../../lib/announce';
import { save } from '../../lib/save';
import { usePart } from '../../lib/usePart';
import { ColorPicker } from './ColorPicker';
import { contrasted, mendStyle } from './colors';
import { framed, loadDecoder, pictureOf, readPicture } from './decoder';
import type { FormWords } from './contents/kinds';
import { withoutTrailingBreaks } from './contents/pasted';
import { canCopyImages, copyImage, fileName, pngOf, type Wanted } from './download';
import { DrawnCanvas } from './DrawnCanvas';
import { type Design, drawDesign, sideOf, SIZE, symbolOf } from './drawing';
import { LogoField } from './LogoField';
import type { Better } from './mends';
import { qrMessages, savedWords } from './messages';
import { FIRST_WIDTH, millimetresOf, reachWords } from './print';
import { QrCanvas } from './QrCanvas';
import { ScanNote } from './scan/ScanNote';
import { useScanCode } from './scan/useScanCode';
import styles from './QrStudio.module.css';
import { BLACK, isPlainDrawing, PLAIN, type Style, WHITE } from './style';
import { svgOf } from './svg';
import { isBlank, needsEci, symbolFor, wellFormed } from './symbol';
import { TextField } from './TextField';
import { useLogo } from './useLogo';
import { useIdleLoading, useReading } from './useReading';
import { useSettled } from './useSettled';
import { type Mend, VerdictLine } from './VerdictLine';
import { useMend } from './useMend';
import { faultOf, judge, type Reading, type Verdict } from './verdict';

/** Pixels at which a vector drawing is held up to the decoder. */
const SVG_SIZE = 1_000;
/** Milliseconds for which a file that is to be saved waits for its check. */
const PATIENCE = 6_000;

/** Bare, because what is chained to an import() here becomes a part of it in the build. */
const importMore = () => import('./more/more');

const loadMore = async () => {
  const more = await importMore();
  await more.loadLetters();
  return more;
};

/** The options may be opened when there is no network. */
const loadAhead = async () => (await importMore()).loadAhead();

interface Made {
  file: Blob;
  read?: Blob;
  size: number;
}

type Picker = 'foreground' | 'background';
type Copied = 'idle' | 'copied' | 'refused';
const copyWords: Record<Copied, string> = {
  idle: 'Copy image',
  copied: 'Copied',
  refused: 'Not copied',
};

/** Everything happens here in the browser; nothing is sent but the question for a scan code. */
export function QrStudio({ initialText }: { initialText: string }) {
  const [name, setName] = useState('');
  const [text, setText] = useState(initialText);
  const [linkOfVisit] = useState(initialText);
  const scan = useScanCode(linkOfVisit);
  const [taken, setTaken] = useState('');
  // It takes the place of the short address once, where that still stands there.
  if (scan.state === 'made' && taken !== scan.url) {
    setTaken(scan.url);
    if (text === scan.short) setText(scan.url);
  }
  const [style, setStyle] = useState(PLAIN);
  const [picker, setPicker] = useState<Picker | null>(null);
  const [copied, setCopied] = useState<Copied>('idle');
  const { state: logoState, choose, set: setLogo } = useLogo();
  const remove = () => setLogo(undefined);
  const write = (next: string) => {
    setText(next);
    setForm(null);
  };
  const [pixels, setPixels] = useState(SIZE);
  const [width, setWidth] = useState(FIRST_WIDTH);
  /** Of the form that wrote the text: what is said while it is not whole. */
  const [form, setForm] = useState<FormWords | null>(null);
  const [refusals, setRefusals] = useState(0);
  const moreId = useId();
  const [open, setOpen] = useState<boolean>();
  const more = usePart(loadMore, open !== undefined);
  const canvas = useRef<HTMLCanvasElement>(null);
  useIdleLoading(loadAhead);

  const logo = logoState.step === 2 ? logoState.logo : undefined;
  const whole = form === null ? withoutTrailingBreaks(text) : text;
  const typed = useMemo(
    () => symbolFor(wellFormed(whole), logo !== undefined, style.level),
    [whole, logo, style.level],
  );
  const [settled, settle] = useSettled(whole);
  const content = wellFormed(settled);
  const design = useMemo<Design>(() => ({ text: content, style, logo }), [content, style, logo]);
  const symbol = useMemo(() => symbolOf(design), [design]);
  const change = (part: Partial<Style>) => setStyle((before) => ({ ...before, ...part }));

  const blank = isBlank(content);
  const tooLong = typed.modules === null || symbol.modules === null;
  const [reading, readAgain] = useReading(canvas, design, blank || tooLong);
  const side = sideOf(symbol.modules ?? 0, style);
  const verdict = blank || tooLong ? null : judge({ ...design, size: SIZE }, reading);

  const scans = verdict === 'well' || verdict === 'care';
  const millimetres = millimetresOf(width);
  const drawn = more?.drawn ?? drawDesign;
  // qrcode.react draws plain styles alone, and no symbol that names its encoding.
  const isDrawn = !blank && (!isPlainDrawing(style) || needsEci(content));
  const better = useMend(design, verdict === 'care', drawn);

  const refused = (): boolean => {
    if (isBlank(text)) showToast(form?.refused ?? qrMessages.noLink);
    else if (tooLong) showToast(qrMessages.tooLong);
    else return false;
    setRefusals(refusals + 1);
    return true;
  };

  /** The file, what is read in its place where it is none of pixels, and the pixels of a side. */
  const make = async (wanted: Wanted, of: Design, shown: HTMLCanvasElement): Promise<Made> => {
    // At first it is what is shown, pixel for pixel.
    if (wanted.ending === '.png' && (wanted.pixels === SIZE || !more)) {
      return { file: await pngOf(shown), size: SIZE };
    }
    const drawing = drawn(of);
    const svg = new Blob([svgOf(drawing)], { type: 'image/svg+xml' });
    if (!more || wanted.ending === '.svg') return { file: svg, size: SVG_SIZE };
    if (wanted.ending === '.png') {
      return { file: await more.pngFile(drawing, wanted.pixels), size: wanted.pixels };
    }
    const file = await more.makePdf(drawing, wanted.millimetres);
    return { file, read: svg, size: SVG_SIZE };
  };

  /** What is saved is read first; it is given in any case, with a word where it may not scan. */
  const hand = async (wanted: Wanted, of: Design) => {
    if (!canvas.current) return;
    const { file, read = file, size } = await make(wanted, of, canvas.current);
    const result = await readFile(read, Math.min(size, SVG_SIZE));
    save(file, fileName(name, wanted.ending));
    const fault = faultOf({ ...of, size }, result);
    if (fault) showToast(savedWords[fault]);
  };

  const download = (wanted: Wanted) => {
    if (refused()) return;
    settle();
    hand(wanted, { ...design, text: wellFormed(whole) }).catch((error: unknown) => {
      console.error('The code was not saved', error);
      showToast(qrMessages.notSaved);
    });
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

  const repaint = () => setStyle(contrasted(mendStyle(style)));
  const blackOnWhite = () => change({ foreground: BLACK, background: WHITE });
  const removeImage: Mend = { words: 'Remove the image', act: remove };
  const automatic: Mend = {
    words: 'Use automatic error correction',
    act: () => change({ level: null }),
  };
  const plain: Mend = isPlainDrawing(style)
    ? { words: 'Use black on white', act: blackOnWhite }
    : { words: 'Use the plain style', act: () => setStyle(PLAIN) };
  const lighter = logo
    ? removeImage
    : style.level !== null && style.level !== 'L'
      ? automatic
      : null;
  const saveLarge: Mend = {
    words: 'Save a large one as SVG',
    act: () => download({ ending: '.svg' }),
  };
  const improve = (one: Better): Mend => ({
    words: one.words,
    act: () => {
      setStyle(one.design.style);
      if (one.design.logo !== logo) setLogo(one.design.logo);
    },
  });
  const mends: Partial<Record<Verdict, Mend>> = {
    ...(better !== undefined && { care: better ? improve(better) : saveLarge }),
    inverted: { words: 'Swap the colors', act: repaint },
    close: { words: 'Mend the colors', act: repaint },
    dense: logo ? removeImage : saveLarge,
    unread: !logo ? plain : style.level === null ? removeImage : automatic,
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
        <div>
          <TextField label="URL" value={text} onValue={write} symbol={typed} />
          <ScanNote scan={scan} text={text} hasLogo={logo !== undefined} level={style.level} />
        </div>
        <LogoField state={logoState} choose={choose} remove={remove} />
        <div className={styles.pair}>
          <ColorPicker
            label="Color"
            color={style.foreground}
            onColor={(foreground) => change({ foreground })}
            open={picker === 'foreground'}
            setOpen={setForegroundOpen}
          />
          <ColorPicker
            label="Background color"
            color={style.background}
            onColor={(background) => change({ background })}
            open={picker === 'background'}
            setOpen={setBackgroundOpen}
          />
        </div>
        <label className={styles.switch}>
          <input
            type="checkbox"
            role="switch"
            checked={style.quietZone}
            onChange={({ target }) => change({ quietZone: target.checked })}
          />
          Quiet zone, for dark surroundings
        </label>
        <div className={styles.actions}>
          <Button look="sign" onClick={() => download({ ending: '.png', pixels })}>
            DOWNLOAD QR
          </Button>
          <Button onClick={() => download({ ending: '.svg' })}>SVG</Button>
          {canCopyImages() && <Button onClick={copy}>{copyWords[copied]}</Button>}
        </div>
        <div className={styles.more}>
          <Button
            aria-expanded={open === true}
            aria-controls={moreId}
            onClick={() => setOpen(open !== true)}
          >
            More options
          </Button>
          <div id={moreId} hidden={open !== true}>
            {more ? (
              <more.MoreOptions
                text={text}
                onText={(next, words) => {
                  setText(next);
                  setForm(words);
                }}
                refusals={refusals}
                symbol={typed}
                name={name}
                logo={logo}
                style={style}
                onStyle={setStyle}
                pixels={pixels}
                onPixels={setPixels}
                width={width}
                onWidth={setWidth}
                savePdf={(millimetres) => download({ ending: '.pdf', millimetres })}
              />
            ) : (
              open && <Spinner label="Loading the options" />
            )}
          </div>
        </div>
      </div>
      <div className={styles.board}>
        {/* The library draws once more when its image comes, and that is read too. */}
        <div
          className={styles.code}
          style={tooLong || blank ? undefined : { backgroundColor: style.background }}
          onLoadCapture={readAgain}
        >
          {tooLong ? (
            <TooLong />
          ) : isDrawn ? (
            <DrawnCanvas canvas={canvas} design={design} draw={drawn} />
          ) : (
            <QrCanvas ref={canvas} design={design} />
          )}
          {blank && !tooLong && (
            <p className={styles.blank}>
              {form?.empty ?? 'Enter a link and its code appears here.'}
            </p>
          )}
        </div>
        <VerdictLine
          verdict={verdict}
          mend={tooLong ? lighter : verdict && mends[verdict]}
          reach={scans && millimetres !== null ? reachWords(millimetres, side) : ''}
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
