import type { ReactNode } from 'react';
import drawing from 'virtual:sample-chart';
import { Bars } from '../components/Bars';
import { Offered } from '../components/Offered';
import { home } from './messages';
import styles from './Reasons.module.css';

/** The three reasons, each with a small picture of what the product really draws. */
export function Reasons() {
  return (
    <section className={styles.reasons} aria-label={home.reasons}>
      <div className={styles.row}>
        <Reason title={home.analytics} text={home.analyticsText} picture={<SampleChart />} />
        <Reason title={home.customization} text={home.customizationText} picture={<SampleQr />} />
        <Reason title={home.free} text={home.freeText} picture={<SmallPlate />}>
          <Offered where="registration guest-links">
            <span> {home.optionalAccount}</span>
          </Offered>
        </Reason>
      </div>
    </section>
  );
}

interface ReasonProps {
  title: string;
  text: string;
  picture: ReactNode;
  children?: ReactNode;
}

function Reason({ title, text, picture, children }: ReasonProps) {
  return (
    <div>
      <div className={styles.picture} aria-hidden="true">
        {picture}
      </div>
      <h2>{title}</h2>
      <p>
        {text}
        {children}
      </p>
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
        {home.sampleCode}
      </text>
    </svg>
  );
}

/**
 * The QR code of https://atajo.example/k7Qm2_xB: its modules row by row, one bit each, in base64.
 */
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
