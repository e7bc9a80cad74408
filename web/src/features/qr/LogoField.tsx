import { useEffect, useId, useRef, useState } from 'react';
import { Spinner } from '../../components/Spinner';
import styles from './LogoField.module.css';
import { qrMessages } from './messages';
import type { LogoState } from './useLogo';

interface LogoFieldProps {
  state: LogoState;
  choose: (file: File | null | undefined) => void;
  remove: () => void;
}

/** An image is chosen, dropped or pasted. */
export function LogoField({ state, choose, remove }: LogoFieldProps) {
  const id = useId();
  const [over, setOver] = useState(false);
  const latest = useRef(choose);
  useEffect(() => {
    latest.current = choose;
  });

  useEffect(() => {
    const onPaste = (event: ClipboardEvent) => {
      const file = event.clipboardData?.files[0];
      if (!file) return;
      event.preventDefault();
      latest.current(file);
    };
    document.addEventListener('paste', onPaste);
    return () => document.removeEventListener('paste', onPaste);
  }, []);

  return (
    <div>
      <span id={`${id}-label`} className={styles.label}>
        Center image
      </span>
      <div className={styles.row}>
        {/* The input inside is the control; dropping is a second way to it. */}
        {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
        <label
          className={styles.file}
          data-over={over}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            event.preventDefault();
            setOver(false);
            choose(event.dataTransfer.files[0]);
          }}
        >
          <input
            type="file"
            accept="image/*"
            aria-labelledby={`${id}-label`}
            className={styles.input}
            onChange={(event) => {
              choose(event.target.files?.[0]);
              event.target.value = '';
            }}
          />
          {state.step === 1 && <Spinner label="Loading the image" />}
          {state.step === 2 && (
            <img className={styles.preview} src={state.logo.src} alt={qrMessages.logoAlt} />
          )}
          <span>
            {state.step === 2 ? 'Choose another image' : 'Choose, drop or paste an image'}
          </span>
        </label>
        {state.step === 2 && (
          <button type="button" className={styles.remove} onClick={remove}>
            Remove image
          </button>
        )}
      </div>
    </div>
  );
}
