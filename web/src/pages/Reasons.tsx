import type { ReactNode } from 'react';
import styles from './Reasons.module.css';

/** The three reasons, each with a small true picture of the product. */
export function Reasons() {
  return (
    <section className={styles.reasons} aria-label="Why Atajo">
      <div className={styles.row}>
        <Reason title="Advanced analytics" picture={<Bars />}>
          See the views of every link. People are counted apart from bots, and each visit once.
        </Reason>
        <Reason title="Unique customization" picture={<SampleQr />}>
          Make a QR code in your colours with your logo in its center.
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

const HEIGHTS = [18, 26, 22, 38, 30, 52, 44, 61, 58, 92, 70];

function Bars() {
  const highest = Math.max(...HEIGHTS);
  return (
    <svg viewBox="0 0 182 100">
      {HEIGHTS.map((height, day) => (
        <rect
          key={day}
          className={height === highest ? styles.sign : styles.ink}
          x={day * 17}
          y={100 - height}
          width="12"
          height={height}
        />
      ))}
    </svg>
  );
}

function SampleQr() {
  return (
    <svg viewBox="-2 -2 37 37" shapeRendering="crispEdges">
      <path className={styles.onSample} d="M-2-2h37v37h-37z" />
      <path className={styles.sample} d={SAMPLE} />
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

/** https://atajo.example/k7Qm2_xB */
const SAMPLE =
  'M0 0.5h7m1 0h2m2 0h2m3 0h2m1 0h1m1 0h3m1 0h7M0 1.5h1m5 0h1m1 0h9m1 0h1m2 0h1m1 0h1m2 0h1m5 0h1M0 2.5h1m1 0h3m1 0h1m4 0h1m4 0h2m2 0h1m3 0h1m1 0h1m1 0h3m1 0h1M0 3.5h1m1 0h3m1 0h1m1 0h5m2 0h1m1 0h4m1 0h1m1 0h1m1 0h1m1 0h3m1 0h1M0 4.5h1m1 0h3m1 0h1m1 0h2m1 0h1m1 0h1m1 0h2m1 0h1m1 0h1m1 0h1m1 0h1m1 0h1m1 0h3m1 0h1M0 5.5h1m5 0h1m1 0h1m6 0h1m2 0h2m2 0h1m1 0h1m1 0h1m5 0h1M0 6.5h7m1 0h1m1 0h1m1 0h1m1 0h1m1 0h1m1 0h1m1 0h1m1 0h1m1 0h1m1 0h7M11 7.5h4m5 0h2m1 0h1M3 8.5h1m2 0h1m2 0h1m6 0h1m2 0h2m2 0h1m3 0h3m1 0h2M3 9.5h1m3 0h1m1 0h2m1 0h1m1 0h1m4 0h1m2 0h1m3 0h1m3 0h1m1 0h1M1 10.5h6m3 0h2m1 0h1m1 0h3m3 0h2m2 0h1m3 0h2m1 0h1M0 11.5h1m1 0h2m1 0h1m1 0h1m2 0h1m1 0h1m5 0h2m3 0h1m1 0h1m3 0h1m2 0h1M5 12.5h2m1 0h1m2 0h1m1 0h1m2 0h1m1 0h1m1 0h1m2 0h4m1 0h2m2 0h1M1 13.5h1m1 0h1m1 0h1m1 0h2m3 0h5m2 0h1m2 0h1m1 0h1m1 0h1m1 0h2m2 0h1M0 14.5h5m1 0h3m1 0h3m1 0h1m1 0h2m2 0h2m1 0h3m2 0h2m1 0h1M0 15.5h1m7 0h1m1 0h1m2 0h2m1 0h3m1 0h3m1 0h1m2 0h2m2 0h2M0 16.5h1m5 0h1m2 0h2m1 0h1m1 0h1m1 0h1m1 0h1m2 0h1m1 0h1m1 0h2m1 0h3M0 17.5h2m1 0h2m5 0h2m2 0h2m1 0h1m1 0h1m3 0h1m1 0h1m4 0h1M0 18.5h3m1 0h4m2 0h3m2 0h3m2 0h1m1 0h1m3 0h1m1 0h1m1 0h1m1 0h1M0 19.5h1m2 0h1m1 0h1m4 0h1m2 0h4m2 0h1m1 0h2m3 0h1m4 0h1M0 20.5h2m1 0h1m2 0h1m1 0h2m4 0h2m1 0h2m1 0h2m1 0h2m6 0h2M1 21.5h2m1 0h1m4 0h2m1 0h2m1 0h2m1 0h1m1 0h2m1 0h3m5 0h2M0 22.5h8m1 0h5m2 0h1m2 0h1m3 0h5m2 0h1m1 0h1M1 23.5h1m1 0h1m8 0h1m2 0h1m1 0h1m2 0h8m1 0h1m2 0h1M0 24.5h1m2 0h4m3 0h1m3 0h1m1 0h1m4 0h1m1 0h6m3 0h1M8 25.5h1m1 0h1m1 0h3m3 0h1m1 0h5m3 0h2m2 0h1M0 26.5h7m3 0h1m3 0h3m1 0h3m1 0h1m1 0h1m1 0h1m1 0h4M0 27.5h1m5 0h1m2 0h7m4 0h3m1 0h1m3 0h1m3 0h1M0 28.5h1m1 0h3m1 0h1m3 0h1m1 0h3m1 0h1m1 0h3m3 0h5M0 29.5h1m1 0h3m1 0h1m1 0h3m1 0h1m1 0h2m1 0h1m2 0h1m1 0h3m1 0h1m1 0h3m1 0h1M0 30.5h1m1 0h3m1 0h1m2 0h1m2 0h2m3 0h1m2 0h1m1 0h2m1 0h1m1 0h3m2 0h1M0 31.5h1m5 0h1m4 0h1m4 0h1m1 0h11M0 32.5h7m2 0h2m1 0h2m1 0h1m3 0h1m2 0h7m2 0h1';
