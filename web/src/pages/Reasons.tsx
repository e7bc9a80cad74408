import type { ReactNode } from 'react';
import drawing from 'virtual:sample-chart';
import { Bars } from '../components/Bars';
import styles from './Reasons.module.css';

/** The three reasons, each with a small true picture of the product. */
export function Reasons() {
  return (
    <section className={styles.reasons} aria-label="Why Atajo">
      <div className={styles.row}>
        <Reason title="Advanced analytics" picture={<SampleChart />}>
          See the views of every link. People are counted apart from bots, and each visit once.
        </Reason>
        <Reason title="Unique customization" picture={<SampleQr />}>
          Make a QR code in your colors with your logo in its center.
        </Reason>
        <Reason title="Free and hassle-free" picture={<SmallPlate />}>
          No price, no trial, no form to fill in. Make an account only to keep your links together.
        </Reason>
      </div>
    </section>
  );
}

interface ReasonProps {
  title: string;
  picture: ReactNode;
  children: string;
}

function Reason({ title, picture, children }: ReasonProps) {
  return (
    <div>
      <div className={styles.picture} aria-hidden="true">
        {picture}
      </div>
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  );
}

function SampleChart() {
  return (
    <svg viewBox="3 -1 269 140">
      <Bars drawing={drawing} />
    </svg>
  );
}

function SampleQr() {
  return (
    <svg viewBox="-2 -2 37 37" shapeRendering="crispEdges">
      <path className={styles.onSample} d="M-2-2h37v37h-37z" />
      <path className={styles.sample} d={modules()} />
    </svg>
  );
}

function SmallPlate() {
  return (
    <svg viewBox="0 0 190 100">
      <rect className={styles.plate} y="30" width="190" height="44" />
      <rect className={styles.sign} y="30" width="8" height="44" />
      <text className={styles.code} x="22" y="58">
        /k7Qm2_xB
      </text>
    </svg>
  );
}

/** https://atajo.example/k7Qm2_xB: its modules row by row, one bit each. */
const SAMPLE =
  'fzPW/YP+Swl2IUzU7fr0qtu1WlU3KJCp4F9VVX8APFgASAKZuBGtkIj6sY6JbaVgFAmWUnlTNT6p5nfX7KyAsrvMQValdjaYFYXcc05RTSFPI7Q0bBvYwrZ28L9P4lMFSPmXeUShHwHq6GP+EXfVC/KHi9hF1/Gh61q6bpeMtM4ghP4Pf7bInwA=';
const SIDE = 33;

function modules(): string {
  const bytes = atob(SAMPLE);
  const isDark = (at: number) => (bytes.charCodeAt(at >> 3) >> (at & 7)) & 1;
  return Array.from({ length: SIDE * SIDE }, (_, at) =>
    isDark(at) ? `M${at % SIDE} ${Math.floor(at / SIDE) + 0.5}h1` : '',
  ).join('');
}
