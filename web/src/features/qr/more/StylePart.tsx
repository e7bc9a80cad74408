import { type ReactNode, useId, useState } from 'react';
import { Button } from '../../../components/Button';
import { Checkbox } from '../../../components/Checkbox';
import { Field } from '../../../components/Field';
import { ColorPicker } from '../ColorPicker';
import { type BallShape, type EyePart, MAX_CAPTION_LENGTH, PLAIN, type Style } from '../style';
import { KeptStyles } from './KeptStyles';
import { messages } from './messages';
import styles from './MoreOptions.module.css';
import { NamedChoice } from './NamedChoice';

interface StylePartProps {
  style: Style;
  onStyle: (style: Style) => void;
}

const moduleOptions = [
  { value: 'square', text: messages.shapes.square },
  { value: 'rounded', text: messages.shapes.rounded },
  { value: 'dots', text: messages.shapes.dots },
] as const;

const frameOptions = [
  { value: 'square', text: messages.shapes.square },
  { value: 'rounded', text: messages.shapes.rounded },
] as const;

const ballOptions = [...frameOptions, { value: 'circle', text: messages.shapes.circle }] as const;

const gradientOptions = [
  { value: 'none', text: messages.gradients.none },
  { value: 'linear', text: messages.gradients.linear },
  { value: 'radial', text: messages.gradients.radial },
] as const;

const levelOptions = [
  { value: 'auto', text: messages.levels.auto },
  { value: 'L', text: messages.levels.L },
  { value: 'M', text: messages.levels.M },
  { value: 'Q', text: messages.levels.Q },
  { value: 'H', text: messages.levels.H },
] as const;

export function StylePart({ style, onStyle }: StylePartProps) {
  const id = useId();
  const { foreground, second, eyeFrame, eyeBall, caption } = style;
  const change = (part: Partial<Style>) => onStyle({ ...style, ...part });

  return (
    <section className={styles.part} aria-labelledby={id}>
      <h2 id={id}>{messages.style}</h2>
      <NamedChoice
        label={messages.modules}
        options={moduleOptions}
        value={style.modules}
        onChange={(modules) => change({ modules })}
      />
      <EyeChoice
        label={messages.eyeFrames}
        ownColorLabel={messages.eyeFrameOwnColor}
        colorLabel={messages.eyeFrameColor}
        options={frameOptions}
        part={eyeFrame}
        first={foreground}
        onPart={(part) => change({ eyeFrame: part })}
      />
      <EyeChoice
        label={messages.eyeBalls}
        ownColorLabel={messages.eyeBallOwnColor}
        colorLabel={messages.eyeBallColor}
        options={ballOptions}
        part={eyeBall}
        first={foreground}
        onPart={(part) => change({ eyeBall: part })}
      />
      <NamedChoice
        label={messages.gradient}
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
            label={messages.secondColor}
            color={second.color}
            onColor={(color) => change({ second: { ...second, color } })}
          />
        )}
      </NamedChoice>
      <div>
        <Checkbox
          label={messages.frame}
          checked={caption !== null}
          onChange={({ target }) =>
            change({ caption: target.checked ? messages.firstFrameText : null })
          }
        />
        {caption !== null && (
          <Field
            label={messages.frameText}
            type="text"
            autoComplete="off"
            dir="auto"
            value={caption}
            onChange={({ target }) => change({ caption: firstOf(target.value) })}
          />
        )}
      </div>
      <NamedChoice
        label={messages.errorCorrection}
        options={levelOptions}
        value={style.level ?? 'auto'}
        onChange={(level) => change({ level: level === 'auto' ? null : level })}
      />
      <div className={styles.actions}>
        <Button onClick={() => onStyle(PLAIN)}>{messages.reset}</Button>
      </div>
      <KeptStyles style={style} onStyle={onStyle} />
    </section>
  );
}

function firstOf(text: string): string {
  return Array.from(text).slice(0, MAX_CAPTION_LENGTH).join('');
}

interface EyeChoiceProps<Shape extends BallShape> {
  label: string;
  ownColorLabel: string;
  colorLabel: string;
  options: readonly { value: Shape; text: string }[];
  part: EyePart<Shape>;
  /** Initial value of a custom color. */
  first: string;
  onPart: (part: EyePart<Shape>) => void;
}

/** Chooses the shape and color of a part of the eyes. */
function EyeChoice<Shape extends BallShape>({
  label,
  ownColorLabel,
  colorLabel,
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
        label={ownColorLabel}
        checked={color !== null}
        onChange={({ target }) => onPart({ shape, color: target.checked ? first : null })}
      />
      {color !== null && (
        <OwnPicker
          label={colorLabel}
          color={color}
          onColor={(next) => onPart({ shape, color: next })}
        />
      )}
    </NamedChoice>
  );
}

/** A color picker that holds its own open state. */
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
