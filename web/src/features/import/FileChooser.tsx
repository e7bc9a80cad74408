import { useEffect, useEffectEvent, useState } from 'react';
import { AreaField } from '../../components/AreaField';
import { Button } from '../../components/Button';
import { FieldError } from '../../components/FieldError';
import { FileButton } from '../../components/FileButton';
import styles from './Importer.module.css';
import { messages } from './messages';

const ACCEPTED =
  '.csv,.tsv,.txt,.json,.html,.htm,.sql,.xml,text/csv,text/plain,text/html,application/json';

interface FileChooserProps {
  problem: string;
  onFile: (blob: Blob, name: string) => void;
}

/** Accepts a chosen or dropped file, or pasted text. */
export function FileChooser({ problem, onFile }: FileChooserProps) {
  const [text, setText] = useState('');
  const [textProblem, setTextProblem] = useState('');

  const drop = useEffectEvent((event: DragEvent) => {
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    // Otherwise the browser would leave the page to show the file.
    event.preventDefault();
    onFile(file, file.name);
  });
  useEffect(() => {
    const ended = new AbortController();
    const { signal } = ended;
    const allow = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
    };
    addEventListener('dragover', allow, { signal });
    addEventListener('drop', (event) => drop(event), { signal });
    return () => ended.abort();
  }, []);

  const readText = () => {
    if (text.trim() === '') setTextProblem(messages.nothingPasted);
    else onFile(new Blob([text]), messages.pasted);
  };

  return (
    <>
      <div className={styles.stack}>
        <p>{messages.intro}</p>
        <p>{messages.limits}</p>
        <div>
          <FileButton
            text={messages.choose}
            accept={ACCEPTED}
            onFile={(file) => onFile(file, file.name)}
          />
          <FieldError id="file-error" text={problem || undefined} />
        </div>
        <p className={styles.quiet}>{messages.drop}</p>
      </div>
      <AreaField
        label={messages.paste}
        placeholder={messages.pasteHint}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        wrap="off"
        error={textProblem || undefined}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setTextProblem('');
        }}
      />
      <div>
        <Button onClick={readText}>{messages.read}</Button>
      </div>
    </>
  );
}
