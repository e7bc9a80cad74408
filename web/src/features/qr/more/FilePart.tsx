import { useId, useState } from 'react';
import { Button } from '../../../components/Button';
import { Field } from '../../../components/Field';
import { formatNumber } from '../../../lib/format';
import { millimetresOf, WIDTH_FAULT } from '../print';
import type { Style } from '../style';
import { pixelSizes } from './files';
import { messages } from './messages';
import styles from './MoreOptions.module.css';
import { NamedChoice } from './NamedChoice';
import { QuietZoneOffer } from './QuietZoneOffer';

interface FilePartProps {
  style: Style;
  onStyle: (style: Style) => void;
  pixels: number;
  onPixels: (pixels: number) => void;
  /** Print width in millimeters, as typed. */
  width: string;
  onWidth: (width: string) => void;
  savePdf: (millimetres: number) => void;
}

const sizeOptions = pixelSizes.map((size) => ({ value: `${size}`, text: formatNumber(size) }));

export function FilePart(props: FilePartProps) {
  const { style, onStyle, pixels, onPixels, width, onWidth, savePdf } = props;
  const id = useId();
  const [error, setError] = useState<string>();

  const save = () => {
    const millimetres = millimetresOf(width);
    if (millimetres === null) setError(WIDTH_FAULT);
    else savePdf(millimetres);
  };

  return (
    <section className={styles.part} aria-labelledby={id}>
      <h2 id={id}>{messages.file}</h2>
      <NamedChoice
        label={messages.pngSize}
        options={sizeOptions}
        value={`${pixels}`}
        onChange={(size) => onPixels(Number(size))}
      />
      <form
        className={styles.beside}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <Field
          label={messages.printWidth}
          type="text"
          inputMode="decimal"
          autoComplete="off"
          value={width}
          error={error}
          onChange={({ target }) => {
            setError(undefined);
            onWidth(target.value);
          }}
        />
        <Button type="submit">{messages.pdf}</Button>
      </form>
      <QuietZoneOffer style={style} onStyle={onStyle} />
    </section>
  );
}
