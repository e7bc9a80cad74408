import styles from './FileButton.module.css';

interface FileButtonProps {
  text: string;
  /** Media types and file extensions, as in the attribute `accept`. */
  accept: string;
  disabled?: boolean;
  onFile: (file: File) => void;
}

/** A button that opens the browser's file chooser. The same file can be chosen again. */
export function FileButton({ text, accept, disabled = false, onFile }: FileButtonProps) {
  return (
    <label className={styles.file}>
      <input
        type="file"
        accept={accept}
        className={styles.input}
        disabled={disabled}
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          if (file) onFile(file);
          event.target.value = '';
        }}
      />
      {text}
    </label>
  );
}
