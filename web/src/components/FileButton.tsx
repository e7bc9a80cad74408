import styles from './FileButton.module.css';

interface FileButtonProps {
  text: string;
  /** Types and endings, as of `accept`. */
  accept: string;
  disabled?: boolean;
  onFile: (file: File) => void;
}

/** Opens the browser's file chooser; the same file can be chosen again. */
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
