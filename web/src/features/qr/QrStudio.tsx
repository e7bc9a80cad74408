import { useId, useRef, useState, useSyncExternalStore } from 'react';
import { Button } from '../../components/Button';
import { Field } from '../../components/Field';
import { Spinner } from '../../components/Spinner';
import { useTyped } from '../../lib/useTyped';
import { Board } from './Board';
import { ColorFields } from './ColorFields';
import { canCopyImages, DEFAULT_NAME } from './download';
import { drawDesign, SIZE } from './drawing';
import { LogoField } from './LogoField';
import { messages } from './messages';
import { DEFAULT_WIDTH, millimetresOf } from './print';
import { ScanNote } from './scan/ScanNote';
import styles from './QrStudio.module.css';
import { TextField } from './TextField';
import { useDesign } from './useDesign';
import { useOptions } from './useOptions';
import { copyWords, useSaving } from './useSaving';
import { useVerdict } from './useVerdict';

/** The QR code generator. Runs in the browser; the only request is for a scan code. */
export function QrStudio({ initialText }: { initialText: string }) {
  const [name, setName] = useState('');
  const [pixels, setPixels] = useState(SIZE);
  const [width, setWidth] = useState(DEFAULT_WIDTH);
  const nameField = useRef<HTMLInputElement>(null);
  useTyped(nameField, name, setName);
  const canvas = useRef<HTMLCanvasElement>(null);
  const moreId = useId();
  const { more, open, toggle } = useOptions();
  const copies = useSyncExternalStore(never, canCopyImages, () => true);
  const draw = more?.drawn ?? drawDesign;
  const choices = useDesign(initialText);
  const { text, write, style, change, logo, typed, design, scan } = choices;
  const { download, copy, copied, refusals } = useSaving(canvas, name, choices, more);
  const { verdict, mend, readAgain } = useVerdict(canvas, choices, draw, download);

  return (
    <div className={styles.studio}>
      <div className={styles.controls}>
        <Field
          ref={nameField}
          label={messages.name}
          type="text"
          placeholder={DEFAULT_NAME}
          autoComplete="off"
          dir="auto"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <div>
          <TextField
            label={messages.url}
            value={text}
            onValue={(next) => write(next)}
            symbol={typed}
          />
          <ScanNote
            scan={scan}
            text={text}
            hasLogo={design.logo !== undefined}
            level={style.level}
          />
        </div>
        <LogoField state={logo.state} choose={logo.choose} remove={() => logo.set(undefined)} />
        <ColorFields style={style} change={change} />
        <label className={styles.switch}>
          <input
            type="checkbox"
            role="switch"
            checked={style.quietZone}
            onChange={({ target }) => change({ quietZone: target.checked })}
          />
          {messages.quietZone}
        </label>
        <div className={styles.actions}>
          <Button variant="primary" onClick={() => download({ ending: '.png', pixels })}>
            {messages.download}
          </Button>
          <Button onClick={() => download({ ending: '.svg' })}>{messages.svg}</Button>
          {copies && <Button onClick={copy}>{copyWords[copied]}</Button>}
        </div>
        <div className={styles.more}>
          <Button aria-expanded={open} aria-controls={moreId} onClick={toggle}>
            {messages.moreOptions}
          </Button>
          <div id={moreId} hidden={!open}>
            {more ? (
              <more.MoreOptions
                text={text}
                onText={write}
                refusals={refusals}
                symbol={typed}
                name={name}
                logo={design.logo}
                style={style}
                onStyle={choices.setStyle}
                pixels={pixels}
                onPixels={setPixels}
                width={width}
                onWidth={setWidth}
                savePdf={(millimetres) => download({ ending: '.pdf', millimetres })}
              />
            ) : (
              open && <Spinner label={messages.loadingOptions} />
            )}
          </div>
        </div>
      </div>
      <Board
        canvas={canvas}
        choices={choices}
        draw={draw}
        verdict={verdict}
        mend={mend}
        readAgain={readAgain}
        millimetres={millimetresOf(width)}
      />
    </div>
  );
}

/** Whether images can be copied never changes. */
function never(): () => void {
  return () => undefined;
}
