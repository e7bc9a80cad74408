import { useEffect, useId, useRef, useState } from 'react';
import { HexColorPicker } from 'react-colorful';
import 'virtual:react-colorful.css';
import control from '../../components/control.module.css';
import { Field } from '../../components/Field';
import { Label } from '../../components/Label';
import styles from './ColorPicker.module.css';
import { parseColor } from './colors';
import { messages } from './messages';

interface ColorPickerProps {
  label: string;
  color: string;
  onColor: (color: string) => void;
  open: boolean;
  setOpen: (open: boolean) => void;
}

/** A color field: a button that shows the color, or CLOSE while its picker is open. */
export function ColorPicker({ label, color, onColor, open, setOpen }: ColorPickerProps) {
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (!open) return undefined;
    const closeOutside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener('pointerdown', closeOutside);
    document.addEventListener('focusin', closeOutside);
    document.addEventListener('keydown', onKeyDown);
    return () => {
      document.removeEventListener('pointerdown', closeOutside);
      document.removeEventListener('focusin', closeOutside);
      document.removeEventListener('keydown', onKeyDown);
    };
  }, [open, setOpen]);

  return (
    <div ref={root} className={styles.picker}>
      <Label id={`${id}-label`}>{label}</Label>
      <button
        ref={button}
        id={`${id}-button`}
        type="button"
        className={`${control.control} ${styles.button}`}
        aria-labelledby={`${id}-label ${id}-button`}
        aria-expanded={open}
        aria-controls={`${id}-panel`}
        onClick={() => setOpen(!open)}
      >
        {open ? (
          messages.close
        ) : (
          <>
            <svg className={styles.swatch} aria-hidden="true">
              <rect width="100%" height="100%" fill={color} />
            </svg>
            {color}
          </>
        )}
      </button>
      {open && (
        <div id={`${id}-panel`} className={styles.panel} role="group" aria-label={label}>
          <HexColorPicker color={color} onChange={onColor} />
          <ColorText color={color} onColor={onColor} />
        </div>
      )}
    </div>
  );
}

/** Accepts #14181f, rgb(20 24 31) or hsl(218 22% 10%). Other text does not change the color. */
function ColorText({ color, onColor }: { color: string; onColor: (color: string) => void }) {
  const [typed, setTyped] = useState({ text: color, color });
  const text = typed.color === color ? typed.text : color;
  return (
    <Field
      label={messages.colorText}
      type="text"
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      value={text}
      error={parseColor(text) === null ? messages.badColor : undefined}
      onChange={(event) => {
        const next = event.target.value;
        const parsed = parseColor(next);
        setTyped({ text: next, color: parsed ?? color });
        if (parsed) onColor(parsed);
      }}
    />
  );
}
