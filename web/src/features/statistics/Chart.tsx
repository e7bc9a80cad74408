import {
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
} from 'react';
import { Bars } from '../../components/Bars';
import { formatCompact } from '../../lib/calendar';
import { formatNumber } from '../../lib/format';
import styles from './Chart.module.css';
import { gridOf, peakOf, plot } from './drawing';
import { sayStep, tickOf, type Steps } from './steps';

/** Maximum number of grid lines. */
const MAX_LINES = 5;
/** Height in pixels. The sizes below are in pixels, too. */
const HEIGHT = 300;
const NARROW = { width: 560, height: 210 };
/** Space above the highest grid line, and below the lowest one for the names of steps. */
const TOP = 10;
const BOTTOM = 30;
/** Space beside the grid lines before their values, and the width of a digit there. */
const GAP = 12;
const DIGIT = 9;
/** Minimum distance between the centers of two names. */
const NAME = { hour: 72, day: 88, week: 88, month: 120 };
/** Width before the page is laid out. */
const FIRST_WIDTH = 640;
/** Smallest value that is abbreviated beside the grid lines. */
const LONG_NUMBER = 10_000;

/** Number of steps by which a key moves. Home and End move to the ends. */
const moves: Record<string, number> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageUp: 7,
  PageDown: -7,
  Home: -Infinity,
  End: Infinity,
};

interface ChartProps {
  shown: Steps;
  /** What the bars show: 'People by day'. */
  label: string;
  /** Text about the dotted line; undefined if there is none. */
  dotted: string | undefined;
}

/**
 * A bar chart of people by step.
 *
 * Pointing at a step, touching it or moving to it with the arrow keys shows its figures below.
 * Otherwise those of the highest step are shown. For screen readers, the chart is a slider whose
 * value is the figures of a step in words.
 */
export function Chart({ shown, label, dotted }: ChartProps) {
  const { steps, length } = shown;
  const id = useId();
  const place = useRef<HTMLDivElement>(null);
  const full = useWidth(place);
  /** Steps by their `start`, which stays the same when others are added. */
  const [pointed, setPointed] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);

  const people = steps.map((step) => step.people);
  const indexOf = (start: string | null) =>
    start === null ? -1 : steps.findIndex((step) => step.start === start);
  const highlighted =
    [indexOf(pointed), indexOf(chosen)].find((index) => index !== -1) ??
    peakOf(people) ??
    steps.length - 1;

  const height = full < NARROW.width ? NARROW.height : HEIGHT;
  const before = steps.map((step) => step.before);
  const grid = gridOf(people, before, MAX_LINES);
  const digits = Math.max(...grid.map((value) => nameLine(value).length));
  const size = {
    width: Math.max(1, full - GAP - DIGIT * digits),
    height: height - TOP - BOTTOM,
  };
  const { lines, middle, at, draw, step: width } = plot(people, before, size, grid);

  const pointedAt = (event: PointerEvent) => {
    const { left } = event.currentTarget.getBoundingClientRect();
    return steps[at(event.clientX - left)]?.start ?? null;
  };
  const onPointer = (event: PointerEvent) => {
    if (event.pointerType === 'mouse' && event.type === 'pointermove') setPointed(pointedAt(event));
    else setChosen(pointedAt(event));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const move = moves[event.key];
    if (move === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    setPointed(null);
    const to = Math.max(0, Math.min(steps.length - 1, highlighted + move));
    setChosen(steps[to]?.start ?? null);
  };

  const step = steps[highlighted];
  if (!step) return null;
  const words = sayStep(step, shown);
  return (
    <figure className={styles.chart}>
      <div
        ref={place}
        className={styles.plot}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-describedby={dotted && id}
        aria-valuemin={1}
        aria-valuemax={steps.length}
        aria-valuenow={highlighted + 1}
        aria-valuetext={words}
        onKeyDown={onKeyDown}
        onPointerMove={onPointer}
        onPointerDown={onPointer}
        onPointerLeave={() => setPointed(null)}
      >
        <svg
          viewBox={`0 ${-TOP} ${full} ${height}`}
          width={full}
          height={height}
          aria-hidden="true"
        >
          {lines.map(({ value, y }) => (
            <g key={value}>
              <path className={styles.line} d={`M0 ${y}H${size.width}`} />
              <text className={styles.value} x={size.width + GAP} y={y} dy="0.35em">
                {nameLine(value)}
              </text>
            </g>
          ))}
          <path className={styles.pointer} d={`M${middle(highlighted)} 0V${size.height}`} />
          <Bars drawing={draw(highlighted)} />
          {steps.map(({ start }, index) =>
            isNamed(shown, index, width) ? (
              <text
                key={start}
                className={styles.name}
                x={Math.max(middle(index), NAME[length] / 3)}
                y={size.height + BOTTOM - 10}
              >
                {tickOf(length, start, steps.length > 48)}
              </text>
            ) : null,
          )}
        </svg>
      </div>
      <figcaption className={styles.caption}>
        <span className={styles.key} aria-hidden="true" />
        <span>{words}</span>
        {dotted && (
          <span id={id} className={styles.dotted}>
            {dotted}
          </span>
        )}
      </figcaption>
    </figure>
  );
}

function nameLine(value: number): string {
  return value < LONG_NUMBER ? formatNumber(value) : formatCompact(value);
}

/** Whether a step has its name below the chart: as many as fit. */
function isNamed({ steps, length }: Steps, index: number, width: number): boolean {
  const every = Math.ceil(NAME[length] / width);
  if (length !== 'hour') return index % every === 0;
  // Name round hours or, if there are many days, the beginning of days.
  const hour = Number(steps[index]?.start.slice(11, 13));
  const apart = [1, 2, 3, 4, 6, 12].find((hours) => hours >= every);
  if (steps.length > 48 || apart === undefined) {
    const days = Math.ceil(every / 24);
    return hour === 0 && Math.round(index / 24) % days === 0;
  }
  return hour % apart === 0;
}

/** Returns the width of an element in pixels, and follows its changes. */
function useWidth(place: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(FIRST_WIDTH);
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const measure = () => {
      if (element.clientWidth > 0) setWidth(element.clientWidth);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [place]);
  return width;
}
