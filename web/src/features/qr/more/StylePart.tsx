import { type ReactNode, useId, useState } from 'react';
import { Button } from '../../../components/Button';
import { Checkbox } from '../../../components/Checkbox';
import { Field } from '../../../components/Field';
import { ColorPicker } from '../ColorPicker';
import { type BallShape, type EyePart, LONGEST_CAPTION, PLAIN, type Style } from '../style';
import { KeptStyles } from './KeptStyles';
import styles from './MoreOptions.module.css';
import { NamedChoice } from './NamedChoice';

interface StylePartProps {
  style: Style;
  onStyle: (style: Style) => void;
}

const moduleOptions = [
  { value: 'square', text: 'Square' },
  { value: 'rounded', text: 'Rounded' },
  { value: 'dots', text: 'Dots' },
] as const;

const frameOptions = [
  { value: 'square', text: 'Square' },
  { value: 'rounded', text: 'Rounded' },
] as const;

const ballOptions = [...frameOptions, { value: 'circle', text: 'Circle' }] as const;

const gradientOptions = [
  { value: 'none', text: 'None' },
  { value: 'linear', text: 'Linear' },
  { value: 'radial', text: 'Radial' },
] as const;

const levelOptions = [
  { value: 'auto', text: 'Automatic' },
  { value: 'L', text: 'L' },
  { value: 'M', text: 'M' },
  { value: 'Q', text: 'Q' },
  { value: 'H', text: 'H' },
] as const;

/** The words that a frame begins with. */
const FIRST_WORDS = 'Scan me';

export function StylePart({ style, onStyle }: StylePartProps) {
  const id = useId();
  const { foreground, second, eyeFrame, eyeBall, caption } = style;
  const change = (part: Partial<Style>) => onStyle({ ...style, ...part });

  return (
    <section className={styles.part} aria-labelledby={id}>
      <h2 id={id}>Style</h2>
      <NamedChoice
        label="Squares"
        options={moduleOptions}
        value={style.modules}
        onChange={(modules) => change({ modules })}
      />
      <EyeChoice
        label="Eye frames"
        options={frameOptions}
        part={eyeFrame}
        first={foreground}
        onPart={(part) => change({ eyeFrame: part })}
      />
      <EyeChoice
        label="Eye balls"
        options={ballOptions}
        part={eyeBall}
        first={foreground}
        onPart={(part) => change({ eyeBall: part })}
      />
      <NamedChoice
        label="Second color"
        options={gradientOptions}
        value={second?.kind ?? 'none'}
        onChange={(kind) =>
          change({
            second: kind === 'none' ? null : { kind, color: second?.color ?? foreground },
          })
        }
      >
        {second && (
          <OwnPicker
            label="Second color"
            color={second.color}
            onColor={(color) => change({ second: { ...second, color } })}
          />
        )}
      </NamedChoice>
      <div>
        <Checkbox
          label="Frame with words"
          checked={caption !== null}
          onChange={({ target }) => change({ caption: target.checked ? FIRST_WORDS : null })}
        />
        {caption !== null && (
          <Field
            label="Words in the frame"
            type="text"
            autoComplete="off"
            dir="auto"
            value={caption}
            onChange={({ target }) => change({ caption: firstOf(target.value) })}
          />
        )}
      </div>
      <NamedChoice
        label="Error correction"
        options={levelOptions}
        value={style.level ?? 'auto'}
        onChange={(level) => change({ level: level === 'auto' ? null : level })}
      />
      <div className={styles.actions}>
        <Button onClick={() => onStyle(PLAIN)}>Plain style</Button>
      </div>
      <KeptStyles style={style} onStyle={onStyle} />
    </section>
  );
}

function firstOf(text: string): string {
  return Array.from(text).slice(0, LONGEST_CAPTION).join('');
}

interface EyeChoiceProps<Shape extends BallShape> {
  label: string;
  options: readonly { value: Shape; text: string }[];
  part: EyePart<Shape>;
  /** The colour that a colour of its own begins with. */
  first: string;
  onPart: (part: EyePart<Shape>) => void;
}

/** Shape and colour of a part of the eyes. */
function EyeChoice<Shape extends BallShape>({
  label,
  options,
  part,
  first,
  onPart,
}: EyeChoiceProps<Shape>): ReactNode {
  const { shape, color } = part;
  return (
    <NamedChoice
      label={label}
      options={options}
      value={shape}
      onChange={(next) => onPart({ shape: next, color })}
    >
      <Checkbox
        label={`${label} in a color of their own`}
        checked={color !== null}
        onChange={({ target }) => onPart({ shape, color: target.checked ? first : null })}
      />
      {color !== null && (
        <OwnPicker
          label={`Color of the ${label.toLowerCase()}`}
          color={color}
          onColor={(next) => onPart({ shape, color: next })}
        />
      )}
    </NamedChoice>
  );
}

/** A picker that closes by itself when the focus or a click goes elsewhere. */
function OwnPicker({
  label,
  color,
  onColor,
}: {
  label: string;
  color: string;
  onColor: (color: string) => void;
}) {
  const [open, setOpen] = useState(false);
  return (
    <div>
      <ColorPicker label={label} color={color} onColor={onColor} open={open} setOpen={setOpen} />
    </div>
  );
}
