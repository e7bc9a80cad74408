import styles from './Mark.module.css';

/**
 * Strokes of the icons, which are trail marks: bent (turn here), level (this way), crossed (wrong
 * way).
 */
const strokes = {
  bent: ['M2 13.5H13L23.5 3', 'M2 22.5H18L30 10.5'],
  level: ['M3 11.5H29', 'M3 20.5H29'],
  crossed: ['M5 5L27 27', 'M5 27L27 5'],
} as const;

interface MarkProps {
  kind: keyof typeof strokes;
  size?: 'small' | 'normal' | 'plate' | 'lost';
  /** Draws the icon in the color of lines, for something that does not exist yet. */
  faint?: boolean;
  /** Shows the two bars alternately, changing once a second. */
  walking?: boolean;
}

export function Mark({ kind, size = 'normal', faint = false, walking = false }: MarkProps) {
  const [white, yellow] = strokes[kind];
  const classes = [
    styles.mark,
    styles[kind],
    styles[size],
    faint && styles.faint,
    walking && styles.walking,
  ];
  const bars = [
    <path key="white" className={styles.white} d={white} />,
    <path key="yellow" className={styles.yellow} d={yellow} />,
  ];
  return (
    <svg className={classes.filter(Boolean).join(' ')} viewBox="0 0 32 32" aria-hidden="true">
      {kind === 'crossed' ? bars.reverse() : bars}
    </svg>
  );
}
