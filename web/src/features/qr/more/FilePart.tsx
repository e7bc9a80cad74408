import { useId, useState } from 'react';
import { Button } from '../../../components/Button';
import { Field } from '../../../components/Field';
import { formatNumber } from '../../../lib/format';
import { pixelSizes } from './files';
import styles from './MoreOptions.module.css';
import { NamedChoice } from './NamedChoice';

interface FilePartProps {
  pixels: number;
  onPixels: (pixels: number) => void;
  savePdf: (millimetres: number) => void;
}

/** Millimetres along a side of a PDF: from what a phone can just read to a poster. */
const LEAST = 10;
const MOST = 1_000;
const FIRST = '50';

const sizeOptions = pixelSizes.map((size) => ({ value: `${size}`, text: formatNumber(size) }));

export function FilePart({ pixels, onPixels, savePdf }: FilePartProps) {
  const id = useId();
  const [width, setWidth] = useState(FIRST);
  const [error, setError] = useState<string>();

  const save = () => {
    const millimetres = Number(width.trim().replace(',', '.'));
    if (millimetres >= LEAST && millimetres <= MOST) savePdf(millimetres);
    else setError(`Enter ${LEAST} to ${formatNumber(MOST)} millimetres`);
  };

  return (
    <section className={styles.part} aria-labelledby={id}>
      <h2 id={id}>File</h2>
      <NamedChoice
        label="Pixels a side of the PNG"
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
          label="Width of the PDF in millimetres"
          type="text"
          inputMode="decimal"
          autoComplete="off"
          value={width}
          error={error}
          onChange={({ target }) => {
            setError(undefined);
            setWidth(target.value);
          }}
        />
        <Button type="submit">PDF</Button>
      </form>
    </section>
  );
}
