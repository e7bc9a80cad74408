import { useRef, useState } from 'react';
import { Button } from '../../components/Button';
import { Field } from '../../components/Field';
import { showToast } from '../../components/toast';
import { levelFor, wellFormed } from './capacity';
import { ColorPicker } from './ColorPicker';
import { colorAdvice } from './colors';
import { downloadPng } from './download';
import { LogoField } from './LogoField';
import { qrMessages } from './messages';
import { QrCanvas } from './QrCanvas';
import styles from './QrStudio.module.css';
import { useLogo } from './useLogo';

const BLACK = '#000000';
const WHITE = '#ffffff';
const QUIET_ZONE = 4;

type Picker = 'foreground' | 'background';

/** Everything happens here in the browser; nothing is sent. */
export function QrStudio({ initialText }: { initialText: string }) {
  const [name, setName] = useState('');
  const [text, setText] = useState(initialText);
  const [foreground, setForeground] = useState(BLACK);
  const [background, setBackground] = useState(WHITE);
  const [picker, setPicker] = useState<Picker | null>(null);
  const [quietZone, setQuietZone] = useState(false);
  const { state: logoState, choose, remove } = useLogo();
  const canvas = useRef<HTMLCanvasElement>(null);

  const content = wellFormed(text);
  const logo = logoState.step === 2 ? logoState.logo : undefined;
  const level = levelFor(content, logo !== undefined);
  const margin = quietZone || background !== WHITE ? QUIET_ZONE : 0;
  const advice = colorAdvice(foreground, background);

  const download = () => {
    if (text.trim() === '') showToast(qrMessages.noLink);
    else if (level === null) showToast(qrMessages.tooLong);
    else if (canvas.current) downloadPng(canvas.current, name);
  };

  const toggles = (which: Picker) => ({
    open: picker === which,
    setOpen: (open: boolean) =>
      setPicker((current) => (open ? which : current === which ? null : current)),
  });

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
        <Field
          label="URL"
          type="text"
          inputMode="url"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          dir="auto"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <LogoField state={logoState} choose={choose} remove={remove} />
        <div className={styles.pair}>
          <ColorPicker
            label="Color"
            color={foreground}
            onColor={setForeground}
            {...toggles('foreground')}
          />
          <ColorPicker
            label="Background color"
            color={background}
            onColor={setBackground}
            {...toggles('background')}
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
        <div>
          <Button look="sign" onClick={download}>
            DOWNLOAD QR
          </Button>
        </div>
      </div>
      <div className={styles.board}>
        <div className={styles.code} style={{ backgroundColor: background }}>
          {level === null ? (
            <p className={styles.tooLong} role="alert">
              {qrMessages.tooLong}
            </p>
          ) : (
            <QrCanvas
              ref={canvas}
              text={content}
              level={level}
              foreground={foreground}
              background={background}
              margin={margin}
              logo={logo}
            />
          )}
        </div>
        <p className={styles.advice} role="status">
          {advice ?? (text === '' ? 'Enter a link and its code appears here.' : '')}
        </p>
      </div>
    </div>
  );
}
