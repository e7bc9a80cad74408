import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { previewLink, type Preview } from '../../api';
import { cache, KEPT_FOR } from '../../api/cache';
import { keys } from '../../api/keys';
import { Button, ButtonLink } from '../../components/Button';
import { actions } from '../../components/messages';
import { ShortAddress } from '../../components/ShortAddress';
import { Spinner } from '../../components/Spinner';
import { formatMoment } from '../../lib/format';
import { nobody } from '../../lib/owner';
import { readable } from '../../lib/hosts';
import { messages } from './messages';
import styles from './PreviewView.module.css';
import { ReportDialog } from './ReportDialog';
import { Warnings } from './Warnings';

interface PreviewViewProps {
  code: string;
  /** Wraps the preview. */
  page: (children: ReactNode) => ReactNode;
  /** Explains why a link no longer redirects. */
  over: (preview: Preview) => ReactNode;
  /** Replaces a link that never existed or was deleted permanently. */
  otherwise: ReactNode;
}

/** The preview of a link, for visitors who want to see it before following it. */
export function PreviewView({ code, page, over, otherwise }: PreviewViewProps) {
  const { data, isError, isFetching, refetch } = useQuery(
    {
      queryKey: keys.preview(nobody, code),
      queryFn: ({ signal }) => previewLink(code, { signal }),
      gcTime: KEPT_FOR,
    },
    cache,
  );
  if (data === null) return otherwise;
  return page(
    <>
      <h1>{messages.headings[data?.state ?? 'active']}</h1>
      {data && (
        <>
          <Known preview={data} over={over} />
        </>
      )}
      {!data && isError && (
        <div className={styles.failed} role="alert">
          <p>{messages.loadFailed}</p>
          <Button busy={isFetching} onClick={() => void refetch()}>
            {actions.tryAgain}
          </Button>
        </div>
      )}
      {!data && !isError && (
        <div className={styles.loading}>
          <Spinner label={messages.loading} />
        </div>
      )}
    </>,
  );
}

interface PlaceProps {
  host: string;
  /** The whole URL, if it is shown. */
  url: Preview['long_link'];
  warnings: readonly string[];
}

/** Where a link leads, with the warnings about it. */
function Place({ host, url, warnings }: PlaceProps) {
  const shown = readable(host);
  return (
    <>
      <div className={styles.place}>
        <p className={styles.host} translate="no">
          {host.split(/(?<=\.)/).map((label, index) => (
            <span key={index}>{label}</span>
          ))}
        </p>
        {shown && (
          <p className={styles.shown}>{messages.displayedAs(<bdi translate="no">{shown}</bdi>)}</p>
        )}
        {url && (
          <p className={styles.address} translate="no" dir="ltr">
            {url}
          </p>
        )}
      </div>
      <Warnings place={{ host, long_link: url }} warnings={warnings} />
    </>
  );
}

function Known({ preview, over }: { preview: Preview; over: (preview: Preview) => ReactNode }) {
  const [reporting, setReporting] = useState(false);
  const [sent, setSent] = useState(false);
  const { code, host, state, title } = preview;
  const made = formatMoment(preview.created_at);
  const changed = preview.changed_at && formatMoment(preview.changed_at);
  return (
    <>
      {host && <Place host={host} url={preview.long_link} warnings={preview.warnings} />}
      {state !== 'active' && <div className={styles.over}>{over(preview)}</div>}
      <p className={styles.quiet}>
        {messages.created(<ShortAddress code={code} />, made)}{' '}
        {changed ? messages.changed(changed) : state === 'active' && messages.unchanged}{' '}
        {title && messages.ownerTitle(<bdi>{title}</bdi>)}
      </p>
      <div className={styles.actions}>
        {state === 'active' && (
          <ButtonLink variant="primary" to={`/${code}`} reloadDocument rel="noreferrer">
            {messages.goThere}
          </ButtonLink>
        )}
        <Button onClick={() => setReporting(true)}>{messages.report}</Button>
      </div>
      <p className={styles.sent} role="status">
        {sent && messages.sent}
      </p>
      {reporting && (
        <ReportDialog
          code={code}
          onClose={() => setReporting(false)}
          onSent={() => {
            setReporting(false);
            setSent(true);
          }}
        />
      )}
    </>
  );
}
