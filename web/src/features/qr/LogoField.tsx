import { useEffect, useId, useRef, useState } from 'react';
import { Label } from '../../components/Label';
import { Spinner } from '../../components/Spinner';
import { TextButton } from '../../components/TextButton';
import styles from './LogoField.module.css';
import { messages } from './messages';
import type { LogoState } from './useLogo';

interface LogoFieldProps {
  state: LogoState;
  choose: (file: File | null | undefined) => void;
  remove: () => void;
}

const TEXT_FIELDS = 'textarea, input:is([type="text"], [type="email"], [type="tel"])';

/**
 * A field for the logo: the user chooses an image, or drops or pastes it anywhere on the page. A
 * file that is dropped beside the field would otherwise open in place of the page.
 */
export function LogoField({ state, choose, remove }: LogoFieldProps) {
  const id = useId();
  const [over, setOver] = useState(false);
  const latest = useRef(choose);
  useEffect(() => {
    latest.current = choose;
  });

  useEffect(() => {
    const done = new AbortController();
    const { signal } = done;
    const onPaste = (event: ClipboardEvent) => {
      const file = event.clipboardData?.files[0];
      // Word processors and spreadsheets copy a picture of the text with it.
      if (!file || pastesText(event)) return;
      event.preventDefault();
      latest.current(file);
    };
    const onDrag = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      setOver(event.type === 'dragover');
      if (event.type === 'drop') latest.current(event.dataTransfer.files[0]);
    };
    const onDragLeave = ({ relatedTarget }: DragEvent) => {
      if (relatedTarget === null) setOver(false);
    };
    document.addEventListener('paste', onPaste, { signal });
    document.addEventListener('dragover', onDrag, { signal });
    document.addEventListener('drop', onDrag, { signal });
    document.addEventListener('dragleave', onDragLeave, { signal });
    return () => done.abort();
  }, []);

  return (
    <div>
      <Label id={`${id}-label`}>{messages.centerImage}</Label>
      <div className={styles.row}>
        <label className={styles.file} data-over={over}>
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
          {state.step === 1 && <Spinner label={messages.loadingImage} />}
          {state.step === 2 && (
            <img className={styles.preview} src={state.logo.src} alt={messages.logoAlt} />
          )}
          <span>{state.step === 2 ? messages.chooseOtherImage : messages.chooseImage}</span>
        </label>
        {state.step === 2 && <TextButton onClick={remove}>{messages.removeImage}</TextButton>}
      </div>
    </div>
  );
}

function pastesText({ target, clipboardData }: ClipboardEvent): boolean {
  return (
    target instanceof Element &&
    target.matches(TEXT_FIELDS) &&
    clipboardData?.getData('text/plain') !== ''
  );
}
