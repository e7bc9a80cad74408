import { useEffect, useRef } from 'react';
import { Button } from '../../components/Button';
import { actions } from '../../components/messages';
import { ProgressLine } from '../../components/ProgressLine';
import { Spinner } from '../../components/Spinner';
import { fromNow } from '../../lib/format';
import { formatPercent } from '../../lib/calendar';
import type { Account } from '../../lib/owner';
import { Checked } from './Checked';
import { FileChooser } from './FileChooser';
import { FileReview } from './FileReview';
import { Imported } from './Imported';
import styles from './Importer.module.css';
import { messages } from './messages';
import { PastImports } from './PastImports';
import { useImporter } from './useImporter';

/** Imports the links of a file, step by step. Continues an interrupted import. */
export function Importer({ account }: { account: Account }) {
  const { step, read, check, start, resume, cancel, pause, forget } = useImporter(account);
  const section = useRef<HTMLElement>(null);
  const before = useRef(step.step);
  useEffect(() => {
    // The button that led to the new step was removed: move the focus to the section.
    if (before.current !== step.step) section.current?.focus({ preventScroll: true });
    before.current = step.step;
  }, [step.step]);

  const isBusy = step.step === 'importing' || step.step === 'preparing';
  return (
    <>
      <section
        ref={section}
        tabIndex={-1}
        data-keeps-focus
        className={styles.step}
        aria-label={messages.title}
      >
        {step.step === 'choose' && (
          <FileChooser problem={step.problem} onFile={(blob, name) => void read(blob, name)} />
        )}
        {step.step === 'reading' && (
          <>
            <ProgressLine
              text={messages.readingOf(step.name, formatPercent(step.read / (step.total || 1)))}
              done={step.read}
              total={step.total}
            />
            <Cancel onClick={() => cancel()} />
          </>
        )}
        {step.step === 'read' && (
          <FileReview
            file={step.file}
            problem={step.problem}
            onRead={(options) =>
              void read(step.file.blob, step.file.name, options, step.file.question)
            }
            onCheck={() => void check(step.file)}
            onOther={() => cancel()}
          />
        )}
        {step.step === 'checking' && (
          <>
            <ProgressLine
              text={messages.checkingOf(step.done, step.total)}
              done={step.done}
              total={step.total}
            />
            {step.wait !== null && <p>{messages.checkWaiting(fromNow(step.wait))}</p>}
            <Cancel onClick={() => cancel()} />
          </>
        )}
        {step.step === 'checked' && (
          <Checked
            file={step.file}
            verdicts={step.verdicts}
            onImport={(choices) => void start(step.file, step.verdicts, choices)}
            onOther={() => cancel()}
          />
        )}
        {step.step === 'preparing' && <Spinner label={messages.preparing} />}
        {step.step === 'foreign' && (
          <>
            <p>{messages.foreign}</p>
            <div>
              <Button onClick={forget}>{messages.discard}</Button>
            </div>
          </>
        )}
        {step.step === 'importing' && (
          <>
            <ProgressLine
              text={messages.importingOf(step.done, step.total)}
              done={step.done}
              total={step.total}
            />
            {step.wait !== null && <p>{messages.waiting(fromNow(step.wait))}</p>}
            <p className={styles.quiet}>{step.isLasting ? messages.goesOn : messages.stay}</p>
            <div>
              <Button onClick={pause}>{messages.pause}</Button>
            </div>
          </>
        )}
        {step.step === 'paused' && (
          <>
            <p role={step.problem ? 'alert' : undefined}>{step.problem || messages.paused}</p>
            <div className={styles.buttons}>
              <Button variant="primary" onClick={() => void resume(step.job)}>
                {messages.continue}
              </Button>
              <Button onClick={forget}>{messages.stop}</Button>
            </div>
          </>
        )}
        {step.step === 'imported' && (
          <Imported job={step.job} imported={step.imported} onOther={forget} />
        )}
      </section>
      {!isBusy && <PastImports account={account} />}
    </>
  );
}

function Cancel({ onClick }: { onClick: () => void }) {
  return (
    <div>
      <Button onClick={onClick}>{actions.cancel}</Button>
    </div>
  );
}
